package docs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
)

// served begins the mark of a block that starts a review, whose page a reviewer then uses: `<!-- served: 40 decisions
// -->`.
const served = "served: "

// reviewing, if set, turns the test program into a reviewer who starts the command line of its arguments and makes so
// many decisions on its page. What the command prints on standard error is the output; Ctrl-C ends it.
const reviewing = "WINNOW_DOCS_REVIEWER"

// servedBlock returns the commands of a marked block for the shell.
func servedBlock(b block) (string, error) {
	n, ok := strings.CutSuffix(strings.TrimPrefix(b.mark, served), " decisions")
	if _, err := strconv.Atoi(n); err != nil || !ok || strings.Count(b.text, "\n") != 1 {
		return "", fmt.Errorf("found the mark %q, expected a number of decisions, and one command", b.mark)
	}
	return "reviewed " + n + " " + b.text, nil
}

// reviewServed is the reviewer. Pictures whose name begins with mislaid are in the wrong folder: they get the suggested label; all
// others are kept.
func reviewServed(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	server := exec.Command(args[1], args[2:]...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = decide(strings.TrimSpace(address), n)
	}
	if err != nil {
		_ = server.Process.Kill()
		return fmt.Errorf("%w; %w", err, server.Wait())
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return server.Wait()
}

// decide makes n decisions on the page at an address, or as many as there are images.
func decide(address string, n int) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	token := at.Query().Get("token")
	post := func(to string, body, answer any) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r, err := http.NewRequest(http.MethodPost, "http://"+at.Host+to, bytes.NewReader(text))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer got.Body.Close()
		if text, err = io.ReadAll(got.Body); err != nil {
			return err
		}
		if got.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s: %s", to, got.Status, text)
		}
		return json.Unmarshal(text, answer)
	}
	for n > 0 {
		var page struct {
			Rows []struct {
				ID, Version            int
				Path, Given, Suggested string
			}
		}
		if err := post("/api/next", map[string]any{"limit": min(n, 20)}, &page); err != nil {
			return err
		}
		var list []any
		for _, r := range page.Rows {
			d := map[string]any{"id": r.ID, "version": r.Version, "action": "keep"}
			if strings.HasPrefix(path.Base(r.Path), "mislaid") {
				if d["action"] = "drop"; r.Suggested != r.Given {
					d["action"], d["label"] = "relabel", r.Suggested
				}
			}
			list = append(list, d)
		}
		if len(list) == 0 {
			return nil
		}
		n -= len(list)
		var done any
		if err := post("/api/decide", map[string]any{"tab": "docs", "decisions": list}, &done); err != nil {
			return err
		}
	}
	return nil
}
