package studio

import (
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
	"winnow/report/review"
)

// When an audit that the page started is done, the page shows its list. A list of other images changes nothing.
func TestAuditIsOpened(t *testing.T) {
	t.Setenv("WINNOW_REVIEW_TOKEN", "")
	t.Setenv("WINNOW_MODELS", t.TempDir()+"/models.json")
	t.Setenv("WINNOW_MODEL_DIRS", "")
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.png", "b.png"} {
		f, err := os.Create(name)
		if err == nil {
			err = png.Encode(f, image.NewGray(image.Rect(0, 0, 4, 4)))
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	write("m.csv", "path,label\na.png,U+0041\nb.png,U+0042\n") // drawn characters: their network is built in
	write("photos.csv", "path,label\na.png,cat\nb.png,dog\n")
	const head = "path,given_label,suggested_label,score\n"
	open := func(manifest string) *opened {
		t.Helper()
		o, err := termtest.Asked(t, newStudioCommand, manifest)
		s := &opened{p: &term.Program{Quiet: true, Out: io.Discard, Err: io.Discard}}
		if err == nil {
			err = s.openSet(*o)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.closes() })
		return s
	}
	total := func(s *opened) (session struct{ Total int }) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/api/session", nil))
		if err := json.Unmarshal(w.Body.Bytes(), &session); err != nil {
			t.Fatalf("%d: %v: %s", w.Code, err, w.Body)
		}
		return session
	}
	photos := open("photos.csv")
	words, _, err := photos.listWords(review.NetworkJob)
	if _, _, without := photos.listWords(review.AuditJob); err != nil || without == nil ||
		!slices.Equal(words, []string{"models", "get", "mobilenetv2-7"}) {
		t.Errorf("without a network: %q, %v; the audit: %v", words, err, without)
	}
	write("suspects.csv", head+"elsewhere.png,cat,dog,0.1\n")
	s := open("m.csv")
	words, out, err := s.listWords(review.AuditJob)
	if err != nil || !slices.Equal(words, []string{"audit", "m.csv", "--out", "m-suspects.csv"}) {
		t.Fatalf("got %q, %v: suspects.csv is of other images", words, err)
	}
	write("m-suspects.csv", head+"elsewhere.png,cat,dog,0.1\n")
	if _, err := s.finish(review.AuditJob, out); err == nil || total(s).Total != 0 {
		t.Errorf("a list of other images: %v, %+v", err, total(s))
	}
	write("m-suspects.csv", head+"a.png,U+0041,U+0042,0.1\n")
	if _, err := s.finish(review.AuditJob, out); err != nil || total(s).Total != 1 {
		t.Errorf("%v, %+v", err, total(s))
	}
	if _, _, err := s.listWords(review.AuditJob); err == nil {
		t.Error("the audit is offered again")
	}
}
