package live

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/models"
	"winnow/report/jobs"
	"winnow/report/live"
	"winnow/report/review"
	"winnow/run/folder"
)

// Set is the labelled set that a page is about.
type Set struct {
	Manifest, Root location.Source
	Columns        datasets.Names
	Names          string // file of the names of classes
	Audit          string // list of its suspects; "": none
	Features       string // feature store of its images; "": none
	Decisions      string // file of decisions; "": none are made yet
	Audited        bool   // there is a list
}

// words returns the words of a command that name the set's images.
func (s Set) words(command string) []string {
	words := []string{command, s.Manifest.String()}
	if !s.Root.IsZero() {
		words = append(words, "--root", s.Root.String())
	}
	for flag, name := range term.Named(s.Columns) {
		words = append(words, flag, name)
	}
	return words
}

// Studio is what winnow studio has besides the images: the trainings of the set, and jobs.
type Studio struct {
	Runs *live.Server
	Jobs *jobs.Runner
}

// NewStudio returns what the page of a set has besides the images. The job's files begin with base. set returns the set
// as it is now; done is told when a job is done.
func NewStudio(p *term.Program, base string, set func() Set, called func(label string) string,
	done func(jobs.Job)) (*Studio, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("studio: %w", err)
	}
	s := set()
	folders := []string{"."}
	if !s.Manifest.IsRemote() {
		folders = append(folders, filepath.Dir(s.Manifest.Clean().Path()))
	}
	if s.Audit != "" {
		folders = append(folders, filepath.Dir(s.Audit))
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	runner, err := jobs.New(jobs.Config{
		Program: program, Base: base, Offers: func() []jobs.Offer { return Offers(set()) },
		Quoted: term.Quoted, Done: done,
	})
	if err != nil {
		return nil, err
	}
	return &Studio{
		Jobs: runner,
		Runs: live.New(live.Config{
			Search: &live.Search{Folders: folders, Manifest: s.Manifest, Root: imageroot.Resolve(s.Root, s.Manifest)},
			Report: Reports(p, s.Names), Called: called,
		}),
	}, nil
}

// Handler answers requests about trainings and jobs, and passes all others to the page.
func (s *Studio) Handler(page http.Handler) http.Handler {
	mux, runs, work := http.NewServeMux(), s.Runs.Handler(), s.Jobs.Handler()
	for _, path := range []string{"/api/runs", "/api/runs/", "/api/run", "/api/run/", "/report", "/audit",
		"/chart.css"} {
		mux.Handle(path, runs)
	}
	mux.Handle("/api/jobs", work)
	mux.Handle("/api/jobs/", work)
	mux.Handle("/", page)
	return mux
}

// Kinds of jobs.
const (
	AuditJob = "audit"
	TrainJob = "train"
)

// ListOf returns the list of suspects that a job makes, an audit.
func ListOf(job jobs.Job) string {
	return strings.TrimSuffix(job.Made, filepath.Ext(job.Made)) + ".csv"
}

// mostNetworks is how many networks the page lets choose from.
const mostNetworks = 12

// Offers returns the jobs that can be started for a set: an audit if there is none, a training.
func Offers(s Set) (list []jobs.Offer) {
	if !s.Audited {
		list = append(list, auditOffer(s))
	}
	return append(list, jobs.Offer{
		Kind: TrainJob, Title: "Train",
		About: "Trains a head on these images with the usual settings: wrong labels are left out before and dropped " +
			"while it learns. Labels that you decided count as you decided them.",
		Words: func(map[string]string) ([]string, string) {
			words, out := s.words("train"), free("run")
			if s.Features != "" {
				words = append(words, "--features", s.Features)
			}
			if s.Decisions != "" {
				words = append(words, "--decisions", s.Decisions)
			}
			return append(words, "--out", out), filepath.Join(out, folder.ResultFile)
		},
	})
}

// free returns the first of NAME, NAME-2, NAME-3, … that does not exist.
func free(name string) string {
	for n := 1; ; n++ {
		at := name
		if n > 1 {
			at = fmt.Sprintf("%s-%d", name, n)
		}
		if _, err := os.Lstat(at); err != nil {
			return at
		}
	}
}

// auditOffer offers to audit the set, by a network that is chosen.
func auditOffer(s Set) jobs.Offer {
	const usual = "suspects"
	out := usual + ".csv"
	if _, err := os.Stat(out); err == nil { // of other images: it stays
		out = free(review.Files{Manifest: s.Manifest}.Beside("")+"-"+usual) + ".csv"
	}
	return jobs.Offer{
		Kind: AuditJob, Title: "Audit these images",
		About: "Looks at every image by a network, then judges which labels are wrong. This page shows the suspects " +
			"when it is done.",
		Choices: []jobs.Choice{{Name: "model", Title: "Network", Values: networks()}},
		Words: func(chosen map[string]string) ([]string, string) {
			words := s.words("audit")
			if name := chosen["model"]; name != "" {
				words = append(words, "--model", name)
			}
			if out != usual+".csv" {
				words = append(words, "--out", out)
			}
			return words, strings.TrimSuffix(out, filepath.Ext(out)) + ".html"
		},
	}
}

// networks returns the networks that are installed, the usual choice first.
func networks() []jobs.Value {
	list := []jobs.Value{{Title: "the best for these images"}}
	registry, err := models.OpenDefault()
	if err != nil {
		return list
	}
	for _, m := range registry.List() {
		if m.Found && len(list) <= mostNetworks {
			list = append(list, jobs.Value{Value: m.Name, Title: m.Name + ": " + m.Why})
		}
	}
	return list
}
