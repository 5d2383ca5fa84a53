package review

import (
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
	"winnow/report/jobs"
)

// When an audit that the page started is done, the page shows its list: no restart, and no decision lost. A list that
// is not of these images changes nothing.
func TestAuditIsOpened(t *testing.T) {
	t.Setenv("WINNOW_REVIEW_TOKEN", "")
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.png", "b.png"} {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("m.csv", "path,label\na.png,cat\nb.png,dog\n")
	o, err := termtest.Asked(t, newStudioCommand, "m.csv")
	if err != nil {
		t.Fatal(err)
	}
	page := &opened{ctx: context.Background(), p: &term.Program{Quiet: true, Out: io.Discard, Err: io.Discard}}
	if err := page.openSet(*o); err != nil {
		t.Fatal(err)
	}
	defer func() { page.closes() }()
	page.answer.Change(page.r.Handler)
	session := func() (s struct {
		Total  int
		Notice string
	}) {
		w := httptest.NewRecorder()
		page.answer.ServeHTTP(w, httptest.NewRequest("GET", "/api/session", nil))
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
			t.Fatalf("%d: %v: %s", w.Code, err, w.Body)
		}
		return s
	}
	// command returns the command of an offer with its usual choices, and the first file that it makes.
	command := func(o jobs.Offer, model string) (string, string) {
		chosen := map[string]string{}
		for _, c := range o.Choices {
			chosen[c.Name] = c.Values[0].Value
		}
		chosen["model"] = model
		words, made := o.Words(chosen)
		return strings.Join(words, " "), made[0]
	}
	offers := listOffers(page.getSet())
	if offers[0].Kind != auditJob || offers[0].Over || session().Total != 0 {
		t.Fatalf("offers %+v of a set without an audit, %d images in it", offers, session().Total)
	}
	if got, made := command(offers[0], "net"); got != "audit m.csv --model net" || made != "suspects.csv" {
		t.Errorf("%q makes %s", got, made)
	}
	made := []string{"suspects.csv", "suspects.html"}
	page.openJobList(jobs.Job{Kind: trainJob, Made: []string{"run/result.json"}})
	write("suspects.csv", "path,given_label,suggested_label,score\nelsewhere.png,cat,dog,0.1\n")
	page.openJobList(jobs.Job{Kind: auditJob, Made: made})
	if s := session(); s.Total != 0 || !strings.Contains(s.Notice, "start winnow studio again") {
		t.Errorf("a list of other images: %+v", s)
	}
	if got, _ := command(listOffers(page.getSet())[0], ""); got != "audit m.csv --out m-suspects.csv" {
		t.Errorf("the list of other images would be lost: %q", got)
	}
	write("suspects.csv", "path,given_label,suggested_label,score\na.png,cat,dog,0.1\nb.png,dog,dog,0.9\n")
	page.openJobList(jobs.Job{Kind: auditJob, Made: made})
	if s := session(); s.Total != 2 {
		t.Errorf("%+v, expected the 2 images of the list", s)
	}
	offers = listOffers(page.getSet())
	if !offers[0].Over || offers[1].Kind != trainJob {
		t.Fatalf("offers %+v of an audited set", offers)
	}
	if got, made := command(offers[1], ""); got != "train m.csv --out run" || made != "run/result.json" {
		t.Errorf("%q makes %s", got, made)
	}
	if err := os.Mkdir("run", 0o755); err != nil {
		t.Fatal(err)
	}
	if got, _ := command(offers[1], ""); got != "train m.csv --out run" {
		t.Errorf("%q: the offer of a job changes after it was made", got)
	}
	if got, _ := command(listOffers(page.getSet())[1], ""); got != "train m.csv --out run-2" {
		t.Errorf("%q trains into a folder that is there", got)
	}
}
