package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A running test gets the elapsed time, tests in parallel get equal parts, and a paused test gets none.
func TestMeterSharesTime(t *testing.T) {
	now := 0.0
	var out bytes.Buffer
	m := &meter{out: &out, seconds: map[string]float64{}, clock: func() (float64, bool) { return now, true }}
	said := ""
	for _, step := range []struct {
		until float64
		line  string
	}{
		{1, "\x16=== RUN   TestAlone\n"},
		{2, "\x16=== RUN   TestAlone/part\n"},
		{4, "\x16=== NAME  TestAlone\n"},
		{5, "    \x16--- PASS: TestAlone/part (1.00s)\n"},
		{6, "written by the test\x16--- PASS: TestAlone (5.00s)\n"},
		{6, "\x16=== RUN   TestA\n"},
		{6, "\x16=== PAUSE TestA\n"},
		{6, "\x16=== RUN   TestB\n"},
		{7, "\x16=== CONT  TestA\n"},
		{9, "\x16--- FAIL: TestB (3.00s)\n"},
		{10, "\x16--- PASS: TestA (3.00s)\n"},
		{20, "PASS\n"},
	} {
		now = step.until
		for _, half := range []string{step.line[:3], step.line[3:]} {
			if _, err := m.Write([]byte(half)); err != nil {
				t.Fatal(err)
			}
		}
		said += step.line
	}
	if diff := cmp.Diff(map[string]float64{"TestAlone": 5, "TestA": 2, "TestB": 2}, m.seconds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if out.String() != said {
		t.Errorf("passed on %q, expected %q", out.String(), said)
	}
}

// A package that passes prints one line, a failed one prints its failed tests, and a failed build prints the reason.
func TestFollow(t *testing.T) {
	events := `{"Action":"build-output","ImportPath":"winnow/c","Output":"c.go:1: broken\n"}
{"Action":"output","Package":"winnow/a","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"winnow/a","Test":"TestGood"}
{"Action":"output","Package":"winnow/a","Output":"PASS\n"}
{"Action":"output","Package":"winnow/a","Output":"costs: package 2.500\n"}
{"Action":"output","Package":"winnow/a","Output":"costs: TestGood 2.250\n"}
{"Action":"output","Package":"winnow/a","Output":"ok  \twinnow/a\t3.0s\n"}
{"Action":"pass","Package":"winnow/a"}
{"Action":"output","Package":"winnow/b","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"winnow/b","Test":"TestGood"}
{"Action":"output","Package":"winnow/b","Test":"TestBad","Output":"b_test.go:7: found 1\n"}
{"Action":"fail","Package":"winnow/b","Test":"TestBad"}
{"Action":"output","Package":"winnow/b","Test":"TestCut","Output":"exit in the middle\n"}
{"Action":"output","Package":"winnow/b","Output":"FAIL\twinnow/b\t1.0s\n"}
{"Action":"fail","Package":"winnow/b"}
no event
`
	var out bytes.Buffer
	packages, tests := follow(strings.NewReader(events), &out)
	want := "c.go:1: broken\nok  \twinnow/a\t3.0s\nb_test.go:7: found 1\nexit in the middle\n" +
		"FAIL\twinnow/b\t1.0s\nno event\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nexpected\n%s", out.String(), want)
	}
	if len(packages) != 1 || packages[0] != (cost{"winnow/a", 2.5}) ||
		len(tests) != 1 || tests[0] != (cost{"a TestGood", 2.25}) {
		t.Errorf("packages %v, tests %v", packages, tests)
	}
}
