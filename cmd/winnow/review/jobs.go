package review

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/backbone"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/models"
	"winnow/report"
	"winnow/report/jobs"
	"winnow/report/live"
	"winnow/report/review"
	"winnow/run/folder"
)

// set is the labelled set that a page is about.
type set struct {
	Manifest, Root location.Source
	Columns        datasets.Names
	Names          string // file of the names of classes
	Audit          string // list of its suspects; "": none
	Features       string // feature store of its images; "": none
	Decisions      string // file of decisions; "": none are made yet
	Audited        bool   // there is a list
}

// listImageWords returns the words of a command that name the set's images. None of them can be taken for a flag.
func (s set) listImageWords(command string) []string {
	images := s.Manifest.String()
	if strings.HasPrefix(images, "-") {
		images = "./" + images
	}
	words := []string{command, images}
	if !s.Root.IsZero() {
		words = append(words, "--root", s.Root.String())
	}
	for flag, name := range term.Named(s.Columns) {
		words = append(words, flag, name)
	}
	return words
}

// extras is what the page has besides the images: the trainings of the set, and jobs.
type extras struct {
	runs *live.Server
	jobs *jobs.Runner
}

// newExtras returns what the page of a set has besides the images. The job's files begin with base. getSet returns the
// set as it is now; done is called when a job is done.
func newExtras(p *term.Program, base string, getSet func() set, done func(jobs.Job)) (*extras, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("studio: %w", err)
	}
	s := getSet()
	folders := []string{"."}
	if !s.Manifest.IsRemote() {
		folders = append(folders, filepath.Dir(s.Manifest.Clean().Path()))
	}
	if s.Audit != "" {
		folders = append(folders, filepath.Dir(s.Audit))
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	return &extras{
		jobs: jobs.New(jobs.Config{
			Program: program, Base: base, Offers: func() []jobs.Offer { return listOffers(getSet()) },
			Quoted: term.Quoted, Done: done, Note: p.Note,
		}),
		runs: live.New(live.Config{
			Search: live.Search{Folders: folders, Manifest: s.Manifest, Root: imageroot.Resolve(s.Root, s.Manifest)},
			Report: func(ctx context.Context, dir string) ([]byte, error) { return makeReport(ctx, p, dir, s.Names) },
		}),
	}, nil
}

// newHandler answers requests about trainings and jobs, and passes all others to the page.
func (s *extras) newHandler(page http.Handler) http.Handler {
	mux, runs, work := http.NewServeMux(), s.runs.Handler(), s.jobs.Handler()
	for _, path := range []string{"/api/runs", "/api/run", "/report", "/chart.css"} {
		mux.Handle(path, runs)
	}
	mux.Handle("/api/jobs", work)
	mux.Handle("/api/jobs/", work)
	mux.Handle("/", page)
	return mux
}

// makeReport makes the page of a run, as winnow report does by default.
func makeReport(ctx context.Context, p *term.Program, dir, names string) ([]byte, error) {
	made, err := report.Make(ctx, dir, report.Making{
		Open:     folder.Options{View: backbone.CenterName, For: "report", Host: p.Host()},
		Pictures: true,
		Names: func(d *datasets.Dataset) (classnames.Names, error) {
			n, _, err := classnames.Choose(names, d)
			return n, err
		},
		Host: report.Host{Winnow: term.Version()},
	})
	return made.File, err
}

// Kinds of jobs.
const (
	auditJob = "audit"
	trainJob = "train"
)

// listMadeBy returns the list of suspects that a job makes, an audit.
func listMadeBy(job jobs.Job) string { return job.Made[0] }

// mostNetworks is how many networks the page lets choose from.
const mostNetworks = 12

// Names of the choices that a job keeps when it continues: the number of its place, and "yes" for what it uses.
const (
	placeChoice     = "place"
	featuresChoice  = "features"
	decisionsChoice = "decisions"
)

// listOffers returns the jobs that can be started for a set: an audit, which is over if there is one, and a training.
func listOffers(s set) []jobs.Offer {
	return []jobs.Offer{auditOffer(s), {
		Kind: trainJob, Title: "Train",
		About: "Trains a head on these images with the usual settings: wrong labels are left out before and dropped " +
			"while it learns. Labels that you decided count as you decided them.",
		Choices: []jobs.Choice{fixedChoice(featuresChoice, usesOf(s.Features)),
			fixedChoice(decisionsChoice, usesOf(s.Decisions)),
			fixedChoice(placeChoice, freeNames("run", ""))},
		Words: func(chosen map[string]string) ([]string, []string) {
			words, out := s.listImageWords("train"), nthName("run", chosen[placeChoice])
			if chosen[featuresChoice] != "" {
				words = append(words, "--features", s.Features)
			}
			if chosen[decisionsChoice] != "" {
				words = append(words, "--decisions", s.Decisions)
			}
			return append(words, "--out", out), []string{filepath.Join(out, folder.ResultFile)}
		},
	}}
}

func fixedChoice(name string, values []string) jobs.Choice {
	c := jobs.Choice{Name: name, Fixed: true}
	for _, value := range values {
		c.Values = append(c.Values, jobs.Value{Value: value})
	}
	return c
}

// usesOf returns whether a file is used: it is, if there is one, and an earlier job may have done without.
func usesOf(file string) []string {
	if file == "" {
		return []string{""}
	}
	return []string{"yes", ""}
}

// mostPlaces is how many places are known, of new jobs and of earlier ones.
const mostPlaces = 1000

// nthName returns the nth name for what a job makes: NAME, NAME-2, NAME-3, …
func nthName(name, n string) string {
	if n == "1" {
		return name
	}
	return name + "-" + n
}

// freeNames returns the numbers of the names of files or folders: the first that is free, then those before it.
func freeNames(name, ending string) (list []string) {
	for n := 1; n <= mostPlaces; n++ {
		list = slices.Insert(list, 0, strconv.Itoa(n))
		if _, err := os.Lstat(nthName(name, list[0]) + ending); err != nil {
			break
		}
	}
	return list
}

// auditOffer offers to audit the set, by a network that is chosen.
func auditOffer(s set) jobs.Offer {
	const usual, ending = "suspects", ".csv"
	own := review.Files{Manifest: s.Manifest}.Beside("") + "-" + usual
	list := freeNames(own, ending)
	if _, err := os.Lstat(usual + ending); err == nil { // of other images: it stays
		list = append(list, "")
	} else {
		list = slices.Insert(list, 0, "")
	}
	return jobs.Offer{
		Kind: auditJob, Title: "Audit these images", Over: s.Audited,
		About: "Embeds every image with a network, then finds which labels are likely wrong. This page shows the " +
			"suspects when it is done.",
		Choices: []jobs.Choice{{Name: "model", Title: "Network", Values: listInstalled()},
			fixedChoice(placeChoice, list)},
		Words: func(chosen map[string]string) (words, made []string) {
			words = s.listImageWords("audit")
			if name := chosen["model"]; name != "" {
				words = append(words, "--model", name)
			}
			name := usual
			if chosen[placeChoice] != "" {
				name = nthName(own, chosen[placeChoice])
				words = append(words, "--out", name+ending)
			}
			return words, []string{name + ending, name + ".html"}
		},
	}
}

// listInstalled returns the networks that are installed, the usual choice first.
func listInstalled() []jobs.Value {
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
