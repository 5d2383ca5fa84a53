package review

import (
	"net/http"
	"os"
	"time"

	"winnow/datasets/shards"
	"winnow/internal/regular"
	"winnow/report/reply"
)

// report returns the page report.html beside the manifest, or "" if there is none.
func (f Files) report() string {
	file := shards.Folder(f.Manifest.Clean()).Join("report.html").Path()
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return file
}

// getReport returns the report beside the manifest. Its styles and pictures are in the file; scripts do not run.
func (r *Reviewer) getReport(w http.ResponseWriter, req *http.Request) {
	f, err := regular.Open(r.Report)
	if err != nil {
		answerError(w, reply.Refuse(http.StatusNotFound, "there is no report: %v", err))
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox")
	http.ServeContent(w, req, "", time.Time{}, f)
}
