package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// What runs elsewhere (GitHub's workflows, ClusterFuzzLite, OSS-Fuzz) is checked
// here as far as that goes without it.
const repository = "../.."

// Every target of the module is built for ClusterFuzzLite and OSS-Fuzz, and nothing
// that is no target.
func TestBuildScriptNamesEveryTarget(t *testing.T) {
	script := read(t, ".clusterfuzzlite/build.sh")
	list := regexp.MustCompile(`(?s)\ntargets=\((.*?)\n\)`).FindStringSubmatch(script)
	if list == nil {
		t.Fatal("there is no list of targets")
	}
	named := strings.Fields(list[1])
	slices.Sort(named)
	if diff := cmp.Diff(declared(t), named); diff != "" {
		t.Errorf("targets of the module (-), of build.sh (+):\n%s", diff)
	}
}

// declared finds fuzz targets in the sources. Each stands in a file of its own, in
// the package that the build script names: the tools of OSS-Fuzz want that.
func declared(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range files(t, "_test.go") {
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				names = append(names, f.Name.Name)
				found++
			}
		}
		if found > 1 || found == 1 && path.Dir(name) != "fuzz" {
			t.Errorf("%s: a target wants a file of its own, in fuzz", name)
		}
	}
	slices.Sort(names)
	return names
}

// Functions of plain files take no *testing.T, since the tools of OSS-Fuzz replace
// only that of the target's own file by one of libFuzzer's.
func TestTargetsStandAlone(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(repository, "fuzz", "*.go"))
	if err != nil || len(names) < 10 {
		t.Fatal(err, names)
	}
	takes := regexp.MustCompile(`(?m)^func .*\*testing\.[TF]\b.*`)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := takes.Find(text); found != nil && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s: %s", name, found)
		}
	}
}

func TestProjects(t *testing.T) {
	type project struct {
		Homepage, Language, MainRepo, PrimaryContact string
		FuzzingEngines, Sanitizers                   []string
	}
	parse := func(name string) (p project) {
		var raw struct {
			Homepage       string
			Language       string
			MainRepo       string   `yaml:"main_repo"`
			PrimaryContact string   `yaml:"primary_contact"`
			Engines        []string `yaml:"fuzzing_engines"`
			Sanitizers     []string
		}
		d := yaml.NewDecoder(strings.NewReader(read(t, name)))
		d.KnownFields(true)
		if err := d.Decode(&raw); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return project{raw.Homepage, raw.Language, raw.MainRepo, raw.PrimaryContact, raw.Engines, raw.Sanitizers}
	}
	want := project{Language: "go", FuzzingEngines: []string{"libfuzzer"}, Sanitizers: []string{"address"}}
	if diff := cmp.Diff(want, parse(".clusterfuzzlite/project.yaml")); diff != "" {
		t.Error(diff)
	}
	got := parse("oss-fuzz/project.yaml")
	if !strings.Contains(got.PrimaryContact, "@") {
		t.Error("OSS-Fuzz wants somebody to write to")
	}
	want.Homepage, want.MainRepo, want.PrimaryContact = "https://github.com/chunkwire/chunkwire", "https://github.com/chunkwire/chunkwire", got.PrimaryContact
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The containers are made from what there is, and run the same script.
func TestDockerfiles(t *testing.T) {
	for name, line := range map[string]string{
		".clusterfuzzlite/Dockerfile": "COPY .clusterfuzzlite/build.sh $SRC/build.sh",
		"oss-fuzz/Dockerfile":         "RUN cp $SRC/chunkwire/.clusterfuzzlite/build.sh $SRC/build.sh",
	} {
		lines := strings.Split(strings.TrimSpace(read(t, name)), "\n")
		if lines[0] != "FROM gcr.io/oss-fuzz-base/base-builder-go" || !slices.Contains(lines, line) || lines[len(lines)-1] != "WORKDIR $SRC/chunkwire" {
			t.Errorf("%s:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}

// Each line of a dictionary is a comment, or a quoted string without anything that
// libFuzzer does not read.
func TestDictionary(t *testing.T) {
	line := regexp.MustCompile(`^(#.*|(\w+=)?"([^"\\]|\\["\\]|\\x[0-9a-f]{2})+")$`)
	for text := range strings.Lines(read(t, ".clusterfuzzlite/json.dict")) {
		if text = strings.TrimSuffix(text, "\n"); !line.MatchString(text) {
			t.Errorf("%q", text)
		}
	}
}

func TestShellScripts(t *testing.T) {
	bash(t)
	scripts := append(files(t, ".sh"), ".ci/run")
	for _, name := range scripts {
		checkSyntax(t, name, read(t, name))
		info, err := os.Stat(filepath.Join(repository, name))
		if err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be run (%v)", name, err)
		}
	}
	if len(scripts) < 3 {
		t.Errorf("only %q", scripts)
	}
}

// workflow is what is looked at of a workflow of GitHub's.
type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Concurrency map[string]any
	Env         map[string]string
	Jobs        map[string]struct {
		Needs    string
		Strategy map[string]any
		RunsOn   string `yaml:"runs-on"`
		Timeout  int    `yaml:"timeout-minutes"`
		Steps    []step
	}
}

type step struct {
	Name, If, Uses, Run string
	With                map[string]string
}

func TestWorkflows(t *testing.T) {
	bash(t)
	var commands []string
	names, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*"))
	if err != nil || len(names) < 4 {
		t.Fatal(err, names)
	}
	for _, name := range names {
		name = ".github/workflows/" + filepath.Base(name)
		var w workflow
		d := yaml.NewDecoder(strings.NewReader(read(t, name)))
		d.KnownFields(true)
		if err := d.Decode(&w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w.Name == "" || len(w.On) == 0 || len(w.Permissions) == 0 || len(w.Jobs) == 0 {
			t.Errorf("%s lacks a name, an occasion, its permissions or its jobs", name)
		}
		for id, job := range w.Jobs {
			if _, ok := w.Jobs[job.Needs]; job.Needs != "" && !ok || job.RunsOn == "" || len(job.Steps) == 0 {
				t.Errorf("%s: job %s needs what is not there, or runs nowhere or nothing", name, id)
			}
			checkSteps(t, name+" "+id, job.Steps)
			for _, s := range job.Steps {
				commands = append(commands, commandsOf(s.Run)...)
			}
		}
	}
	commands = append(commands, commandsOf(read(t, ".clusterfuzzlite/build.sh"))...)
	slices.Sort(commands)
	for _, command := range slices.Compact(commands) {
		t.Run(command, func(t *testing.T) { checkCommand(t, command) })
	}
}

func checkSteps(t *testing.T, where string, steps []step) {
	t.Helper()
	sanitizer := ""
	for i, s := range steps {
		switch {
		case (s.Uses == "") == (s.Run == ""):
			t.Errorf("%s: step %d uses an action or runs something", where, i)
		case s.Run != "":
			checkSyntax(t, where, s.Run)
		case !regexp.MustCompile(`^[\w-]+/[\w/.-]+@v\d+$`).MatchString(s.Uses):
			t.Errorf("%s uses %q", where, s.Uses)
		}
		switch {
		case strings.HasSuffix(s.Uses, "/build_fuzzers@v1"):
			if sanitizer = s.With["sanitizer"]; s.With["language"] != "go" || sanitizer == "" {
				t.Errorf("%s builds with %v", where, s.With)
			}
		case strings.HasSuffix(s.Uses, "/run_fuzzers@v1"):
			mode := s.With["mode"]
			if !slices.Contains([]string{"code-change", "batch", "prune", "coverage"}, mode) || s.With["sanitizer"] != sanitizer || (mode == "coverage") != (sanitizer == "coverage") {
				t.Errorf("%s runs what was built for %q with %v", where, sanitizer, s.With)
			}
		}
	}
}

// commandsOf returns the commands in a script that are this repository's own.
func commandsOf(script string) (list []string) {
	script = strings.ReplaceAll(script, "\\\n", " ")
	own := regexp.MustCompile(`(?m)(?:^|[\s;{(])((?:go (?:run|test) \.|\.ci/|\.github/)[^|;>\n]*)`)
	for _, m := range own.FindAllStringSubmatch(script, -1) {
		list = append(list, strings.TrimSpace(m[1]))
	}
	return list
}

// checkCommand checks that what a command names is there, and that its flags are
// understood: each of our commands answers -h after them with its usage, and a test
// binary lists tests.
func checkCommand(t *testing.T, command string) {
	expansion := regexp.MustCompile(`"?\$(\(\(.*?\)\)|\(.*\)|\{.*?\}|\w+)"?`)
	words := strings.Fields(strings.ReplaceAll(expansion.ReplaceAllString(command, "1"), "'", ""))
	switch {
	case words[0] != "go":
		if _, err := os.Stat(filepath.Join(repository, words[0])); err != nil {
			t.Error(err)
		}
	case words[1] == "run":
		out, err := in(repository, "go", append(words[1:], "-h")...)
		if err != nil || !bytes.Contains(bytes.ToLower(out), []byte("usage")) {
			t.Errorf("%v\n%s", err, out)
		}
	case words[2] == "./...":
	default: // go test ./package -run regexp -and flags
		run := slices.Index(words, "-run")
		if run < 0 {
			t.Fatal("it runs no certain test")
		}
		words[run] = "-list"
		out, err := in(repository, "go", words[1:]...)
		if err != nil || !bytes.HasPrefix(out, []byte("Test")) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func in(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// bash skips a test where there is no bash, which is Windows.
func bash(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("bash", "-c", "test -e /dev/null && echo yes").Output(); err != nil || filepath.Separator == '\\' {
		t.Skipf("no bash here: %v %s", err, out)
	}
}

func checkSyntax(t *testing.T, name, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, err, out, script)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files are those of the repository whose names end in a certain way.
func files(t *testing.T, ending string) (list []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(repository), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata"}, d.Name()):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ending):
			list = append(list, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(fmt.Errorf("looking for *%s: %w", ending, err))
	}
	return list
}

// The script for issues opens one with the file's text, and no second one with the
// same title.
func TestReportOpensAnIssueOnce(t *testing.T) {
	bash(t)
	dir := t.TempDir()
	gh := `#!/bin/sh
case "$1 $2" in
"issue list") cat "$BENCH/titles" ;;
"issue create") echo "$4" >>"$BENCH/titles"; cat >>"$BENCH/bodies" ;;
*) exit 1 ;;
esac
`
	for name, text := range map[string]string{"gh": gh, "titles": "FuzzBits fails\n", "bodies": "", "find.md": "the story\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("BENCH", dir)
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, title := range []string{"FuzzBits fails on 1", "FuzzBits fails on 1", "FuzzBits fails"} {
		if out, err := in(repository, ".github/report.sh", title, filepath.Join(dir, "find.md")); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	titles, _ := os.ReadFile(filepath.Join(dir, "titles"))
	bodies, _ := os.ReadFile(filepath.Join(dir, "bodies"))
	if string(titles) != "FuzzBits fails\nFuzzBits fails on 1\n" || string(bodies) != "the story\n" {
		t.Errorf("opened %q with %q", titles, bodies)
	}
}
