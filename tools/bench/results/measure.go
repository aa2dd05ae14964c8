package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const kcpModule = "github.com/xtaci/kcp-go/v5"

// runTests runs the test that measures, and returns the file with what it found.
func runTests(seeds int, only string) (string, error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return "", err
	}
	modfile, err := mendKCP(dir)
	if err != nil {
		return "", fmt.Errorf("preparing kcp-go for virtual time: %w", err)
	}
	out := filepath.Join(dir, "results.json")
	cmd := exec.Command("go", "test", "-modfile", modfile, "-run", "^TestResults$", "-count=1", "-timeout=0", "-v", ".")
	cmd.Env = append(os.Environ(), "CHUNKWIRE_BENCH_OUT="+out, fmt.Sprint("CHUNKWIRE_BENCH_SEEDS=", seeds), "CHUNKWIRE_BENCH_ONLY="+only)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("measuring: %w", err)
	}
	return out, nil
}

// mendKCP makes a copy of kcp-go whose timers run in virtual time, and a go.mod
// that uses it. Its scheduler asks whether now is after a deadline. A timer
// that fires at that very instant, as every timer does in virtual time, finds
// that it is not, and tries again without end. Nothing else is changed.
func mendKCP(dir string) (modfile string, err error) {
	source, err := output("go", "list", "-m", "-f", "{{.Dir}}", kcpModule)
	if err != nil {
		return "", err
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "kcp")
	if err := os.CopyFS(copied, os.DirFS(source)); err != nil {
		return "", err
	}
	if err := mend(filepath.Join(copied, "timedsched.go")); err != nil {
		return "", err
	}
	modfile = filepath.Join(dir, "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return "", err
		}
	}
	_, err = output("go", "mod", "edit",
		"-replace", kcpModule+"="+copied,
		"-replace", "github.com/chunkwire/chunkwire="+filepath.Join(here, "..", ".."),
		modfile)
	return modfile, err
}

func mend(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(content)
	for _, deadline := range []string{"task.ts", "tasks[0].ts"} {
		wrong, right := "now.After("+deadline+")", "!now.Before("+deadline+")"
		if strings.Count(text, wrong) != 1 {
			return fmt.Errorf("%s has changed: no %s", filepath.Base(file), wrong)
		}
		text = strings.Replace(text, wrong, right, 1)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%s: %w: %s", name, err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
