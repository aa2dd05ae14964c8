package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// readLines gives what is read line by line to the returned channel, which it closes at the end. Of a line that is
// longer than any that means something, it gives the beginning.
func readLines(r io.Reader, done <-chan struct{}) <-chan string {
	ignoreBackgroundReads()
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewReader(r)
		for {
			begin, more, err := in.ReadLine()
			line := string(begin)
			for more && err == nil {
				_, more, err = in.ReadLine()
			}
			if err != nil {
				return
			}
			select {
			case lines <- line:
			case <-done:
				return
			}
		}
	}()
	return lines
}

// errQuit ends the relay: a line has asked for it.
var errQuit = errors.New("quit")

// obey does what a line says, and returns what to answer.
func (r *relaying) obey(line string) (answer string, err error) {
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(line)
	which := bothWays
	for i, name := range wayNames {
		if len(words) > 0 && words[0] == name {
			which, words = []int{i}, words[1:]
			if len(words) == 0 {
				return "", fmt.Errorf("%s needs a setting, such as: %s loss 20", name, name)
			}
		}
	}
	if len(words) == 0 {
		return "", nil
	}
	switch name, value := words[0], strings.Join(words[1:], " "); name {
	case "stats", "show", "help", "quit":
		if value != "" || len(which) == 1 {
			return "", fmt.Errorf("%s must be alone in its line", name)
		}
		return r.command(name)
	case "outage":
		return r.outage(which, value)
	default:
		return r.turn(name, which, value)
	}
}

// command does one of the lines that change nothing.
func (r *relaying) command(name string) (answer string, err error) {
	switch name {
	case "stats":
		r.stats()
	case "show":
		return r.show(), nil
	case "help":
		return lineHelp(), nil
	case "quit":
		return "", errQuit
	}
	return "", nil
}

// show returns all settings.
func (r *relaying) show() string {
	return "up: " + r.ways[up].describe() + "\ndown: " + r.ways[down].describe()
}

// turn changes a figure.
func (r *relaying) turn(name string, which []int, value string) (answer string, err error) {
	k, ok := knobNamed(name)
	switch {
	case !ok:
		return "", fmt.Errorf("nothing is named %q; 'help' lists the names", name)
	case k.both && len(which) == 1:
		return "", fmt.Errorf("%s sets both directions; 'up delay' and 'down delay' set one", name)
	case value == "":
		return "", fmt.Errorf("%s needs a value: %s", name, k.unit)
	}
	changed, err := r.ways.turn(k, which, value)
	if err != nil {
		return "", fmt.Errorf("%s %s: %s; nothing has changed", name, value, brief(err))
	}
	r.ways = changed
	return r.show(), r.apply()
}

// outage begins or ends one now: for a time, or until it is ended.
func (r *relaying) outage(which []int, value string) (answer string, err error) {
	now, length := r.elapsed(), forever/2
	switch value {
	case "off":
		length = 0
	case "on":
	default:
		if err := setDuration(&length, value); err != nil {
			return "", fmt.Errorf("outage needs a duration such as 2s, or on, or off; outages of --outage continue")
		}
	}
	for _, i := range which {
		r.now[i] = outage{length: length, at: now}
	}
	answer = fmt.Sprintf("outage %s of %s", value, strings.Join(names(which), " and "))
	return answer, r.apply()
}

func names(which []int) (all []string) {
	for _, i := range which {
		all = append(all, wayNames[i])
	}
	return all
}

// lineHelp says which lines there are.
func lineHelp() string {
	var b strings.Builder
	b.WriteString("[up|down] NAME VALUE  changes one way, or both:\n")
	for _, k := range knobs {
		if k.name != "outage" {
			fmt.Fprintf(&b, "  %s %s\n", k.name, k.unit)
		}
	}
	b.WriteString("[up|down] outage DURATION|on|off  begins or ends one now\n")
	b.WriteString("show, stats, help, quit  the settings, the statistics, this help, the end")
	return b.String()
}

// elapsed is how long the relay has run.
func (r *relaying) elapsed() time.Duration { return time.Since(r.began) }
