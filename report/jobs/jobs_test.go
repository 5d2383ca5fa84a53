package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/seal"
)

// waits names the pipe from which the child of these tests reads how it ends.
const waits = "WINNOW_TEST_JOB"

// TestMain is also the program that the jobs run: it prints its words, then ends as the pipe says, or by SIGINT.
func TestMain(m *testing.M) {
	pipe := os.Getenv(waits)
	if pipe == "" {
		os.Exit(m.Run())
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	fmt.Println(strings.Join(os.Args[1:], " "))
	fmt.Fprintln(os.Stderr, "extract  3/10 images  2.0 images/s  4s left")
	end := make(chan byte)
	go func() {
		text, _ := os.ReadFile(pipe)
		end <- text[0]
	}()
	select {
	case <-asked:
		os.Exit(130)
	case how := <-end:
		if how == '0' {
			_ = os.WriteFile(os.Args[len(os.Args)-1], nil, 0o644)
		}
		os.Exit(int(how - '0'))
	}
}

// bench is a runner of the test's own program, and the pipe by which its jobs end.
type bench struct {
	*Runner
	dir, pipe string
	done      chan Job
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no pipes with names and no locks that end with their process here")
	}
	b := &bench{dir: t.TempDir()}
	b.pipe = filepath.Join(b.dir, "pipe")
	if err := syscall.Mkfifo(b.pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(waits, b.pipe)
	b.open(t)
	return b
}

// open makes another runner of the same files, as a server does that is started again.
func (b *bench) open(t *testing.T) {
	t.Helper()
	done := make(chan Job, 1)
	b.done = done
	made := filepath.Join(b.dir, "made")
	b.Runner = New(Config{
		Program: os.Args[0], Base: filepath.Join(b.dir, "photos"),
		Offers: func() []Offer {
			networks := []Value{{Value: ""}, {Value: "m"}}
			return []Offer{{Kind: "audit", Choices: []Choice{{Name: "model", Values: networks}},
				Words: func(chosen map[string]string) (words, files []string) {
					return []string{"audit", "photos", chosen["model"], made}, []string{made}
				}}}
		},
		Quoted: func(words []string) string { return strings.Join(words, "|") },
		Done:   func(j Job) { done <- j },
	})
}

// say tells the job how to end.
func (b *bench) say(t *testing.T, how string) {
	t.Helper()
	if err := os.WriteFile(b.pipe, []byte(how), 0); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) is(t *testing.T, want State) *Shown {
	t.Helper()
	v := b.View()
	if v.Job == nil || v.Job.State != want {
		t.Fatalf("job %+v, expected it to be %s", v.Job, want)
	}
	return v.Job
}

// ended waits until the runner that started a job has noted its end.
func ended(r *Runner) {
	<-r.ended
	r.mutex.Lock()
	defer r.mutex.Unlock()
}

func TestJobs(t *testing.T) {
	b := newBench(t)
	if v := b.View(); v.Job != nil || v.Offers[0].Command != "winnow|audit|photos||"+filepath.Join(b.dir, "made") ||
		!strings.Contains(v.Offers[0].Choices[0].Values[1].Command, "|m|") {
		t.Errorf("%+v", v)
	}
	for _, wrong := range []struct {
		kind   string
		chosen map[string]string
	}{{"rm", nil}, {"audit", map[string]string{"model": "$(reboot)"}}, {"audit", map[string]string{"out": "/etc"}}} {
		if err := b.Start(wrong.kind, wrong.chosen); err == nil {
			t.Errorf("%v is started", wrong)
		}
	}
	if err := b.Again(); err == nil {
		t.Error("a job goes on that never was")
	}
	if err := b.Start("audit", map[string]string{"model": "m"}); err != nil {
		t.Fatal(err)
	}
	shown := b.is(t, Running)
	if want := "winnow|audit|photos|m|" + filepath.Join(b.dir, "made"); shown.Command != want {
		t.Errorf("command %q, expected %q", shown.Command, want)
	}
	if err := b.Start("audit", nil); err == nil || !strings.Contains(err.Error(), "one job at a time") {
		t.Errorf("a second job: %v", err)
	}
	b.say(t, "0")
	if job := <-b.done; job.Exit == nil || *job.Exit != 0 {
		t.Errorf("%+v", job)
	}
	shown = b.is(t, Done)
	if diff := cmp.Diff([]Stage{{"extract", 3, 10, "images", "4s"}}, shown.Stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if len(shown.Lines) != 1 || !strings.HasPrefix(shown.Lines[0], "audit photos m ") {
		t.Errorf("lines %q", shown.Lines)
	}
	if err := b.Stop(); err == nil {
		t.Error("a job is stopped that has ended")
	}
	if err := b.Again(); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("a job that is done is started again: %v", err)
	}
	if err := b.Start("audit", nil); err != nil {
		t.Fatal(err)
	}
	b.say(t, "3")
	ended(b.Runner)
	b.is(t, Failed)
}

// A job outlives its server. Another server sees it, stops it and goes on with it; one that ended meanwhile is done if
// what it makes is there.
func TestServerIsKilled(t *testing.T) {
	b := newBench(t)
	if err := b.Start("audit", nil); err != nil {
		t.Fatal(err)
	}
	first := b.Runner
	b.open(t)
	b.is(t, Running)
	if command, runs := b.Running(); !runs || !strings.HasPrefix(command, "winnow|audit") {
		t.Errorf("%q, %v", command, runs)
	}
	if err := b.Start("audit", nil); err == nil {
		t.Error("a second job beside one of an earlier server")
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	ended(first)
	b.is(t, Stopped)
	if err := b.Again(); err != nil {
		t.Fatal(err)
	}
	second := b.Runner
	b.open(t)
	b.say(t, "0")
	ended(second)
	b.is(t, Done)
	if job := <-b.done; job.Exit != nil {
		t.Errorf("the exit status is known: %+v", job)
	}
	b.open(t) // whose end was noted is not told again
	b.is(t, Done)
	select {
	case job := <-b.done:
		t.Errorf("told again: %+v", job)
	default:
	}
}

// A file of a job holds which offer was started with which of its choices. Whatever else it holds, or is, is set aside
// with one line and keeps nobody from working.
func TestForeignFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no pipes with names here")
	}
	offers := []Offer{
		{Kind: "train", Choices: []Choice{
			{Name: "model", Values: []Value{{Value: ""}, {Value: "b"}, {Value: "-o"}}},
			{Name: "place", Fixed: true, Values: []Value{{Value: "2"}, {Value: "1"}}},
		}, Words: func(chosen map[string]string) ([]string, []string) {
			return []string{"train", "photos", "--model", chosen["model"], "--out", "run" + chosen["place"]},
				[]string{"nowhere/result.json"}
		}},
		{Kind: "audit", Over: true, Words: func(map[string]string) ([]string, []string) {
			return []string{"audit", "photos"}, []string{"nowhere/suspects.csv"}
		}},
	}
	sealed := func(body string) []byte {
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		text, err := seal.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	old := func(kind, words string) []byte {
		text, _ := json.Marshal(strings.Fields(words))
		return sealed(`{"version":1,"kind":"` + kind + `","words":` + string(text) + `,"made":"x","folder":"/"}`)
	}
	now := func(kind, chosen string) []byte {
		return sealed(`{"version":2,"kind":"` + kind + `","chosen":` + chosen + `}`)
	}
	for _, c := range []struct {
		text  []byte
		words string // of the job that is shown; "": none
		again bool   // it can be started again
	}{
		{now("train", `{"model":"b","place":"1"}`), "train photos --model b --out run1", true},
		{now("audit", `{}`), "audit photos", false},
		{text: old("train", "train photos --model b --out run1 --classes=/etc/passwd")},
		{text: now("train", `{"model":"c","place":"1"}`)},
		{text: now("train", `{"model":"-o","place":"1"}`)},
		{text: now("train", `{"model":"b"}`)},
		{text: now("train", `{"model":"b","place":"1","out":"/etc"}`)},
		{text: now("rm", `{}`)},
		{text: sealed(`{"version":3,"kind":"audit"}`)},
		{text: bytes.Replace(now("audit", `{}`), []byte("audit"), []byte("audis"), 1)},
		{text: []byte{}}, {text: []byte("{")}, {text: bytes.Repeat([]byte(" "), mostFile+1)},
	} {
		var notes []string
		conf := Config{Base: filepath.Join(t.TempDir(), "photos"), Program: "none",
			Offers: func() []Offer { return offers },
			Quoted: func(words []string) string { return strings.Join(words[1:], " ") },
			Note:   func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }}
		if err := os.WriteFile(conf.Base+FileEnding, c.text, 0o644); err != nil {
			t.Fatal(err)
		}
		r := New(conf)
		v := r.View()
		if (v.Job == nil) != (c.words == "") || v.Job != nil && v.Job.Command != c.words {
			t.Errorf("%.200s: shown %+v, expected %q", c.text, v.Job, c.words)
		}
		kept, err := os.ReadFile(conf.Base + FileEnding + asideEnding)
		if aside := err == nil && bytes.Equal(kept, c.text); aside != (c.words == "") || len(notes) > 1 ||
			(len(notes) == 1) != aside {
			t.Errorf("%.200s: set aside: %v, notes %q", c.text, aside, notes)
		}
		if err := r.Again(); err == nil || strings.Contains(err.Error(), "executable") != c.again {
			t.Errorf("%.200s: again: %v", c.text, err)
		}
	}
}

// Neither a job's file nor its log is read or written through what came in its place.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		what  string
		plant func(name, mine string) error
		log   bool // a job starts although it is the log
	}{
		{"link", func(name, mine string) error { return os.Symlink(mine, name) }, false},
		{"link to nothing", func(name, mine string) error { return os.Symlink(mine+"2", name) }, false},
		{"hard link", func(name, mine string) error { return os.Link(mine, name) }, false},
		{"device", func(name, _ string) error { return os.Symlink("/dev/zero", name) }, false},
		{"pipe", func(name, _ string) error { return syscall.Mkfifo(name, 0o600) }, false},
		{"folder", func(name, _ string) error { return os.Mkdir(name, 0o700) }, false},
		{"large file", func(name, _ string) error {
			return errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<40))
		}, true},
	} {
		b := newBench(t)
		mine := filepath.Join(b.dir, "mine")
		if err := os.WriteFile(mine, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, ending := range []string{FileEnding, LogEnding} {
			if err := c.plant(filepath.Join(b.dir, "photos"+ending), mine); err != nil {
				t.Skip(err)
			}
		}
		b.open(t) // sets the file aside
		if v := b.View(); v.Job != nil {
			t.Errorf("%s: shown %+v", c.what, v.Job)
		}
		if err := b.Start("audit", nil); (err == nil) != c.log {
			t.Errorf("%s: started: %v", c.what, err)
		} else if err == nil {
			b.say(t, "0")
			<-b.done
		}
		if entries, _ := filepath.Glob(filepath.Join(b.dir, "mine*")); len(entries) != 1 {
			t.Errorf("%s: wrote %q", c.what, entries)
		}
		if text, err := os.ReadFile(mine); err != nil || string(text) != "precious" {
			t.Errorf("%s: a file elsewhere holds %q, %v", c.what, text, err)
		}
	}
}

// A job whose file cannot be written does not run.
func TestUnwritten(t *testing.T) {
	b := newBench(t)
	if err := os.Mkdir(filepath.Join(b.dir, "photos"+FileEnding), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.Start("audit", nil); err == nil || b.View().Job != nil {
		t.Errorf("%v, and %+v", err, b.View().Job)
	}
	b.c.Program = filepath.Join(b.dir, "none")
	if err := os.Remove(filepath.Join(b.dir, "photos"+FileEnding)); err != nil {
		t.Fatal(err)
	}
	if err := b.Start("audit", nil); err == nil {
		t.Error("a program that is not there was started")
	}
	b.is(t, Stopped)
}

func TestRequests(t *testing.T) {
	b := newBench(t)
	h := b.Handler()
	ask := func(method, path, body string) (int, string) {
		w, req := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
		if req.Header.Set("Content-Type", "application/json"); body == "" {
			req.Header.Del("Content-Type")
		}
		h.ServeHTTP(w, req)
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/jobs", "", 200}, {"POST", "/api/jobs/start", `{"kind":"rm"}`, 400},
		{"POST", "/api/jobs/start", `{"kind":"audit","words":["rm"]}`, 400}, {"POST", "/api/jobs/start", "x", 400},
		{"POST", "/api/jobs/stop", "", 415}, {"GET", "/api/jobs/start", "", 405}, {"POST", "/api/jobs/stop", "{}", 409},
		{"POST", "/api/jobs/again", "{}", 409}, {"POST", "/api/jobs/start", `{"kind":"audit","chosen":{}}`, 200},
		{"POST", "/api/jobs/start", `{"kind":"audit"}`, 409},
	} {
		if code, body := ask(c.method, c.path, c.body); code != c.want {
			t.Errorf("%s %s %s: %d %s, expected %d", c.method, c.path, c.body, code, body, c.want)
		}
	}
	_, body := ask("GET", "/api/jobs", "")
	var v View
	if err := json.Unmarshal([]byte(body), &v); err != nil || v.Job.State != Running {
		t.Errorf("%v: %s", err, body)
	}
	b.say(t, "0")
	<-b.done
	if code, _ := ask("POST", "/api/jobs/stop", "{}"); code != http.StatusConflict {
		t.Errorf("stopped after its end: %d", code)
	}
}

func TestProgress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	text := "winnow: a note\nextract  1/9 images  1.0 images/s\nextract  9/9 images  1.0 images/s  0s left  2 " +
		"unreadable\n" +
		"judge  about 5s left\njudge  4/8 steps  2.5 steps/s  1m2s left\n\n" +
		"40/60 steps  9.1 steps/s  2s left  epoch 3  loss per pair 0.1  kept 90 %\nthe end\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	stages, lines := readTail(file)
	if diff := cmp.Diff([]Stage{{"extract", 9, 9, "images", "0s"}, {"judge", 4, 8, "steps", "1m2s"},
		{"", 40, 60, "steps", "2s"}}, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"winnow: a note", "the end"}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
