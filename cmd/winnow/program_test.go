package main

import (
	"testing"

	"winnow/cmd/winnow/program"
	"winnow/internal/testing/winnowtest"
)

func TestMain(m *testing.M) { winnowtest.Main(m) }

var commands, execute = program.Commands, program.Execute

func mustRun(t *testing.T, line string) string {
	t.Helper()
	return winnowtest.MustRun(t, line)
}
