package rules

import (
	"bytes"
	"path"
	"strings"
	"testing"
)

// Lines of Go, tests aside, that the command line and its main.go may have.
const (
	cmdGoal  = 5_500
	mainGoal = 60
)

// roomGoal is how many lines a room may have, tests aside, but those of large.
const roomGoal = 4_000

// large says why a room may be larger.
var large = map[string]string{
	"datasets":       "a reader of each form in which labels are kept, and its mended copy; they share one table of columns, rows and splits",
	"losses":         "thirty methods, each with its formula, settings and gradient; they share one chain and one catalog",
	"graph":          "rules for every ONNX operator that known backbones use; reading, checking, inferring and writing share them",
	"graph/gradient": "a derivative for each of ONNX's operators that known backbones use; one table holds them",
	"train":          "one loop with its sampler, solvers, schedules, checkpoints and records; they share one state",
}

func TestSizes(t *testing.T) {
	lines := make(map[string]int)
	cmd := 0
	sources(t, func(name string, content []byte) {
		n := bytes.Count(content, []byte("\n"))
		lines[path.Dir(name)] += n
		if strings.HasPrefix(name, "cmd/") {
			cmd += n
		}
		if name == "cmd/winnow/main.go" && n > mainGoal {
			t.Errorf("%s has %d lines, expected at most %d", name, n, mainGoal)
		}
	})
	if cmd > cmdGoal {
		t.Errorf("cmd has %d lines, expected at most %d", cmd, cmdGoal)
	}
	for room, n := range lines {
		if n > roomGoal && large[room] == "" {
			t.Errorf("%s has %d lines, expected at most %d, or a reason in size_test.go", room, n, roomGoal)
		}
	}
}
