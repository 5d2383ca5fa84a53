// Package live connects winnow studio with trainings and audits: those it shows and those it starts.
package live

import (
	"context"
	"net"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/report"
	"winnow/run/folder"
)

// maxMem limits the memory of a report's similarities, in bytes.
const maxMem = 1 << 30

// Reports returns a function that makes the page of a run, as winnow report does by default.
func Reports(p *term.Program, names string) func(ctx context.Context, dir string) ([]byte, error) {
	return func(ctx context.Context, dir string) ([]byte, error) {
		made, err := report.Make(ctx, dir, report.Making{
			Open:  folder.Options{View: "center", For: "report", Host: p.Host()},
			Asked: report.Asked{MaxMem: maxMem},
			Show:  report.Illustration{Pictures: true, Map: true, MaxMap: 10_000, MaxMem: maxMem},
			Names: func(d *datasets.Dataset) (classnames.Names, error) {
				n, _, err := classnames.Choose(names, d)
				return n, err
			},
			Host: report.Host{Winnow: term.Version()},
		})
		return made.File, err
	}
}

// CheckListen returns an error if an address cannot be listened at, or is every network without saying so.
func CheckListen(at string) error {
	if host, _, err := net.SplitHostPort(at); err != nil {
		return term.Misused("--listen: found %q, expected HOST:PORT, as 127.0.0.1:8080", at)
	} else if host == "" {
		return term.Misused("--listen: found %q, which is every network of this machine: if that is meant, write "+
			"0.0.0.0%s", at, at)
	}
	return nil
}
