package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"winnow/report/live"
)

// A training is watched while it runs. The page stays while it is open, and ends when a person says so.
func TestTrainWatch(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.3)
	out := filepath.Join(w.dir, "run")
	args := []string{"winnow", "train", "--manifest", w.manifest, "--features", w.store, "--out", out, "--screen",
		"none", "--epochs", "2", "--watch", "--json"}
	from, to := io.Pipe()
	var stdout strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- execute(context.Background(), args, &stdout, to)
		to.Close()
	}()
	lines, address := bufio.NewScanner(from), ""
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "watch it: ")
	}
	go io.Copy(io.Discard, from)
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("token") == "" {
		t.Fatalf("the address is %q", address)
	}
	ask := func(method, path string) string {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+u.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+u.Query().Get("token"))
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 300 {
			t.Fatalf("%s: %d %v: %s", path, answer.StatusCode, err, text)
		}
		return string(text)
	}
	var run struct{ Name string }
	if err := json.Unmarshal([]byte(ask("GET", "/api/run?run="+live.Key(out))), &run); err != nil || run.Name != "run" {
		t.Errorf("%v: %+v", err, run)
	}
	for path, holds := range map[string]string{"/": "live.js", "/run.js": "Follower", "/chart.css": ".wn"} {
		if text := ask("GET", path); !strings.Contains(text, holds) {
			t.Errorf("%s: %.80q, expected %q in it", path, text, holds)
		}
	}
	if answer, err := http.Get("http://" + u.Host + "/api/runs"); err != nil || answer.StatusCode != 401 {
		t.Errorf("without the token: %v %v", answer, err)
	}
	ask("POST", "/api/end")
	if c := <-code; c != 0 || !json.Valid([]byte(stdout.String())) {
		t.Errorf("ended with %d: %s", c, stdout.String())
	}
}
