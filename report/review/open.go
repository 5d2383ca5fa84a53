package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/datasets/shards"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/report/review/decisions"
	"winnow/run/embedding"
)

// Files holds the input and output files of a review, and its options.
type Files struct {
	Audit     string          // list of suspects written by "winnow audit"
	Draw      int             // number of randomly drawn images to show instead of the suspects; 0: show the suspects
	KeepOrder bool            // keep the audit's order: do not learn from decisions
	Manifest  location.Source // the audited manifest
	Root      location.Source // folder or .zip file of the images; none: the manifest's folder
	Decisions string          // decisions file; "": next to the manifest
	Out       string          // the corrected manifest or, if it names a folder, fixed class folders; "": none
	By        string          // how a folder Out gets its images (datasets.FolderOut)
	List      string          // CSV of all decisions, which Export writes; "": none
	Names     string          // file with class names; "": a column of the manifest, if present
	Features  string          // feature store or index with the vectors of the images; "": none
	Model     string          // run folder or ONNX file that embeds uploads; "": the model of the features
	Reviewer  string          // the name that the page suggests
	Columns   datasets.Names  // column names of a manifest that is a table; none: the usual names
	Missing   Missing
	Work      *Work // what the page can start; nil: nothing
	Guessed   bool  // Audit was found automatically: ignore it if it is about other images
}

// decisionsFile returns the path of the decisions file.
func (f Files) decisionsFile() string {
	if f.Decisions != "" {
		if to, err := filepath.EvalSymlinks(f.Decisions); err == nil {
			return to // follow a symbolic link only if the user named it
		}
		return f.Decisions
	}
	// The manifest may be a pattern of shards.
	plain := strings.NewReplacer("*", "_", "?", "_", "[", "_", "]", "_", "{", "_", "}", "_")
	manifest := f.Manifest.Clean()
	name := plain.Replace(strings.TrimSuffix(manifest.Base(), manifest.Ext()))
	return shards.Folder(manifest).Join(name).String() + ".decisions.db"
}

// Open opens a review, without an audit if f.Audit is "". closeAll ends background work and closes all files.
func Open(f Files, host embedding.Host) (r *Reviewer, closeAll func() error, err error) {
	conf := Config{AuditFile: f.Audit, ManifestFile: f.Manifest, Out: f.Out, By: f.By, Reviewer: f.Reviewer,
		Missing: f.Missing, KeepOrder: f.KeepOrder, Work: f.Work}
	images := imageroot.Resolve(f.Root, f.Manifest)
	if conf.Manifest, err = f.readManifest(); err != nil {
		return nil, nil, err
	}
	if err = f.CheckOut(conf.Manifest); err != nil {
		return nil, nil, err
	}
	if to := filepath.Clean(f.Manifest.Path()) + ".fixed/"; f.Out == "" && conf.Manifest.IsClassFolders() &&
		(datasets.FolderOut{Path: to, By: f.By}).Check(f.Manifest, conf.Manifest) == nil {
		conf.Out = to // where the page exports to
	}
	if f.Audit == "" {
		conf.Audit, err = noAudit(f.Manifest, conf.Manifest)
	} else if f.Draw > 0 {
		conf.Audit, err = readDrawn(f.Audit, f.Manifest, conf.Manifest, f.Draw)
	} else {
		conf.Audit, err = ReadAudit(f.Audit, f.Manifest, conf.Manifest)
	}
	if f.Guessed && err != nil {
		conf.Notice = fmt.Sprintf("%s is not used: %v", f.Audit, err)
		conf.AuditFile = ""
		conf.Audit, err = noAudit(f.Manifest, conf.Manifest)
	}
	if conf.AuditFile != "" {
		conf.Missing.Audit = ""
	}
	if err != nil {
		if hint.Of(err) == "" {
			err = hint.With(err, "make it: winnow audit %s", f.Manifest)
		}
		return nil, nil, err
	}
	var why string
	if conf.Names, why, err = classnames.Choose(f.Names, conf.Manifest); err != nil {
		return nil, nil, fmt.Errorf("review: %w", err)
	}
	if n := conf.Audit.table.moved; n > 0 {
		conf.Notice = fmt.Sprintf("%s of %s moved to another folder since the audit: not listed here",
			text.Plural(n, "image"), f.Audit)
	}
	conf.Notice = cmp.Or(conf.Notice, suspects.Warning(f.Audit, conf.Audit.table.changed), why)
	root, err := imageroot.OpenClosed(context.Background(), images)
	if err != nil {
		return nil, nil, err
	}
	if err := someImage(root, conf.Audit, images); err != nil {
		return nil, nil, err
	}
	conf.Files = root
	closeFinder := func() error { return nil }
	if f.Features != "" {
		found, err := openFinder(f.Features, f.Model, host)
		if err != nil {
			return nil, nil, err
		}
		conf.Finder, closeFinder = found, found.Close
	}
	if conf.Decisions, err = decisions.Open(f.decisionsFile()); err != nil {
		return nil, nil, errors.Join(err, closeFinder())
	}
	if r, err = New(conf); err != nil {
		return nil, nil, errors.Join(err, conf.Decisions.Close(), closeFinder())
	}
	closeAll = func() error {
		r.End()
		return errors.Join(conf.Decisions.Close(), closeFinder())
	}
	return r, closeAll, nil
}

func (f Files) readManifest() (*datasets.Dataset, error) {
	return datasets.Read(f.Manifest, datasets.ReadOptions{Names: f.Columns, Root: f.Root})
}

// someImage returns an error if the files of the first images are all missing, because the folder is then wrong.
func someImage(root fs.FS, audit *Audit, where location.Source) error {
	const tried = 20
	var first error
	paths := audit.listFirstPaths(tried)
	for _, path := range paths {
		_, err := fs.Stat(root, path)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return hint.With(fmt.Errorf("review: none of the first %d images is below %s: %w", len(paths), where, first),
		"give the folder of the images, or a .zip file of it, with --root")
}

// Export applies the decisions without a server. It writes the files Out and, if set, List.
func Export(f Files) (e Exported, err error) {
	r, err := f.openCopy()
	if err != nil {
		return e, err
	}
	defer r.Decisions.Close()
	r.Moving = func(to map[string]string) error { return FollowMoves(f.decisionsFile(), to) }
	if f.List != "" {
		if err := atomicfile.Write(f.List, r.writeList); err != nil {
			return e, fmt.Errorf("review: %w", err)
		}
	}
	return r.Write()
}

// FollowMoves copies the decisions in a file to the new paths of images that are about to be moved.
func FollowMoves(file string, to map[string]string) error {
	s, err := decisions.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(s.FollowMoves(to), s.Close())
}

// openCopy opens a review of a copy of the decisions, which a server may hold.
func (f Files) openCopy() (r *Reviewer, err error) {
	conf := Config{AuditFile: f.Audit, ManifestFile: f.Manifest, Out: f.Out, By: f.By}
	file := f.decisionsFile()
	if _, err := os.Stat(file); err != nil {
		return nil, hint.With(fmt.Errorf("review: decisions: %w", err),
			"if they are elsewhere, name the file of decisions")
	}
	if conf.Manifest, err = f.readManifest(); err != nil {
		return nil, err
	}
	if err = f.CheckOut(conf.Manifest); err != nil {
		return nil, err
	}
	if f.Audit != "" {
		conf.Audit, err = ReadAudit(f.Audit, f.Manifest, conf.Manifest)
		if err != nil && !f.Guessed {
			return nil, err
		} else if err != nil {
			conf.Audit, conf.AuditFile = nil, ""
		}
	}
	if conf.Decisions, err = decisions.OpenCopy(file); err != nil {
		return nil, err
	}
	root, err := imageroot.OpenClosed(context.Background(), imageroot.Resolve(f.Root, f.Manifest))
	if err == nil { // else they are not at hand
		conf.Files = root
	}
	if r, err = New(conf); err != nil {
		return nil, errors.Join(err, conf.Decisions.Close())
	}
	return r, nil
}

// Status counts the decisions about a labelled set.
type Status struct {
	Decisions string `json:"decisions"` // the file
	Images    int    `json:"images"`
	Suspects  int    `json:"suspects"` // images of the audit; 0 without an audit
	*progress
	Gone    int `json:"gone"`            // decisions about images that the manifest does not have
	Changed int `json:"picture_changed"` // images that changed since they were decided
	summary string
}

// ReadStatus counts the decisions, also while a server holds them.
func ReadStatus(f Files) (s Status, err error) {
	r, err := f.openCopy()
	if err != nil {
		return s, err
	}
	defer r.Decisions.Close()
	p := r.decided.countProgress()
	return Status{Decisions: f.decisionsFile(), Images: len(r.table.images), Suspects: r.table.audited, progress: &p,
		Gone: len(r.decided.gone), Changed: r.decided.countStale(), summary: r.Summary()}, nil
}

// Text returns the counts in a line, a line for each reviewer if there are several, and when to stop.
func (s Status) Text() string {
	lines := []string{s.Decisions + ": " + s.summary}
	if len(s.Reviewers) > 1 {
		for _, by := range s.Reviewers {
			lines = append(lines, fmt.Sprintf("%s: %d decided", cmp.Or(by.Name, "without a name"), by.Decided))
		}
	}
	if s.Hint != "" {
		lines = append(lines, s.Hint)
	}
	return strings.Join(lines, "\n") + "\n"
}

// Outcomes returns what the decisions in a file come to ([decisions.ReadOutcomes]), without those about pictures that
// have changed since, if the images can be read.
func Outcomes(ctx context.Context, file string, root, manifest location.Source) (*datasets.Checks, error) {
	images, err := imageroot.OpenClosed(ctx, imageroot.Resolve(root, manifest))
	if err != nil {
		images = nil
	}
	return decisions.ReadOutcomes(file, images)
}
