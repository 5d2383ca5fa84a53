package review

import (
	"bytes"
	"cmp"
	"net/http"
	"os"
	"time"

	"winnow/datasets/shards"
	"winnow/internal/regular"
	"winnow/report/reply"
)

// mostReport is the largest report that is sent, in bytes.
const mostReport = 64 << 20

// reportPage returns the page report.html beside the manifest, or "" if there is none.
func (f Files) reportPage() string {
	file := shards.Folder(f.Manifest.Clean()).Join("report.html").Path()
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Size() > mostReport {
		return ""
	}
	return file
}

// getReport returns the report beside the manifest. Its styles and pictures are in the file; scripts do not run.
func (r *Reviewer) getReport(w http.ResponseWriter, req *http.Request) {
	err := regular.CheckOwn(r.Report)
	page, read := regular.ReadFile(r.Report, mostReport)
	if err = cmp.Or(err, read); err != nil {
		answerError(w, reply.Refuse(http.StatusNotFound, "there is no report: %v", err))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox")
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(page))
}
