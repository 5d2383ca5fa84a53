package jobs

import (
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"winnow/internal/regular"
)

// Stage is a part of a job's work, as its progress lines say: "extract  120/288 images  40.1 images/s  4s left".
type Stage struct {
	Name  string `json:"name"` // "": the command has one
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Unit  string `json:"unit"`
	Left  string `json:"left"` // "": not known
}

// How much of a log is read, in bytes, and how many of its lines are shown.
const (
	mostLog   = 64 << 10
	mostLines = 12
)

// progress matches a line of progress.
var progress = regexp.MustCompile(`^(?:([a-z]+)  )?(\d+)/(\d+) ([a-z ]+?)(?:  .*?)?(?:  (\S+) left)?(?:  .*)?$`)

// expected matches a line of a stage that has just begun.
var expected = regexp.MustCompile(`^[a-z]+  about \S+ left$`)

// readTail returns the stages recorded at the end of a log, in their order, and the last lines that are not progress.
func readTail(file string) (stages []Stage, lines []string) {
	stages, lines = []Stage{}, []string{}
	f, err := regular.OpenOwn(file, os.O_RDONLY, 0)
	if err != nil {
		return stages, lines
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > mostLog {
		_, _ = f.Seek(-mostLog, io.SeekEnd) // a part of a line comes first
	}
	text, _ := io.ReadAll(io.LimitReader(f, mostLog)) // what is there
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if expected.MatchString(line) {
			continue
		}
		m := progress.FindStringSubmatch(line)
		if m == nil {
			if line = strings.TrimRight(line, " \r"); line != "" {
				lines = append(lines, line)
			}
			continue
		}
		s := Stage{Name: m[1], Unit: m[4], Left: m[5]}
		s.Done, _ = strconv.Atoi(m[2])
		s.Total, _ = strconv.Atoi(m[3])
		at := -1
		for i := range stages {
			if stages[i].Name == s.Name && stages[i].Unit == s.Unit {
				at = i
			}
		}
		if at < 0 {
			stages = append(stages, s)
		} else {
			stages[at] = s
		}
	}
	return stages, lines[max(0, len(lines)-mostLines):]
}
