package rules

import (
	"bytes"
	"path"
	"strings"
	"testing"
)

// Lines of Go, tests aside, that the command line may have: the goal and what is allowed until it is reached. The
// allowance may only shrink.
const (
	cmdGoal, cmdAllowed   = 5_500, 6_480
	mainGoal, mainAllowed = 60, 60
)

// roomGoal is how many lines a room may have, tests aside, but those of large.
const roomGoal = 4_000

// large says why a room may be larger.
var large = map[string]string{
	"losses":         "thirty methods, each with its formula, settings and gradient; they share one chain and one catalog",
	"graph/gradient": "a derivative for each of ONNX's operators that known backbones use; one table holds them",
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
		if name == "cmd/winnow/main.go" && n > mainAllowed {
			t.Errorf("%s has %d lines, expected at most %d (goal: %d)", name, n, mainAllowed, mainGoal)
		}
	})
	if cmd > cmdAllowed {
		t.Errorf("cmd has %d lines, expected at most %d (goal: %d)", cmd, cmdAllowed, cmdGoal)
	}
	for room, n := range lines {
		if n > roomGoal && large[room] == "" {
			t.Errorf("%s has %d lines, expected at most %d, or a reason in size_test.go", room, n, roomGoal)
		}
	}
}
