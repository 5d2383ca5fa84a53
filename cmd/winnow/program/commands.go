package program

import (
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/audit"
	"winnow/cmd/winnow/cluster"
	"winnow/cmd/winnow/data"
	"winnow/cmd/winnow/doctor"
	"winnow/cmd/winnow/embed"
	"winnow/cmd/winnow/eval"
	"winnow/cmd/winnow/export"
	"winnow/cmd/winnow/extract"
	"winnow/cmd/winnow/index"
	"winnow/cmd/winnow/join"
	"winnow/cmd/winnow/list"
	"winnow/cmd/winnow/manual"
	"winnow/cmd/winnow/mapping"
	"winnow/cmd/winnow/models"
	"winnow/cmd/winnow/papers"
	"winnow/cmd/winnow/quickstart"
	"winnow/cmd/winnow/report"
	"winnow/cmd/winnow/reproduce"
	"winnow/cmd/winnow/review"
	"winnow/cmd/winnow/runtime"
	"winnow/cmd/winnow/search"
	"winnow/cmd/winnow/sweep"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/train"
)

// Commands lists every command, in groups.
func Commands() []term.Group {
	return []term.Group{
		{Heading: "Find label errors", Commands: []*cli.Command{
			audit.Command(),
			review.Command(),
			review.Studio(),
		}},
		{Heading: "Data and features", Commands: []*cli.Command{
			data.Command(),
			models.Command(),
			extract.Command(),
			join.Command(),
			cluster.Command(),
		}},
		{Heading: "Train and measure", Commands: []*cli.Command{
			train.Command(),
			sweep.Command(),
			eval.Command(),
			report.Command(),
			mapping.Command(),
		}},
		{Heading: "Use embeddings", Commands: []*cli.Command{
			export.Command(),
			embed.Command(),
			index.Command(),
			search.Command(),
		}},
		{Heading: "Papers", Commands: []*cli.Command{
			reproduce.Command(),
			papers.Command(),
		}},
		{Heading: "Reference", Commands: []*cli.Command{
			list.Command(),
			manual.Manual(),
		}},
		{Heading: "Setup", Commands: []*cli.Command{
			runtime.Command(),
			doctor.Command(),
			quickstart.Command(),
			manual.Completion(),
		}},
	}
}
