package term

import (
	"iter"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/classnames"
)

// ColumnFlags returns the flags for the column names of a table.
func ColumnFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "path-column", DefaultText: "path, or another common name, which is printed",
			Usage: "`NAME` of a table's column (JSON lines: key) with the images' paths"},
		&cli.StringFlag{Name: "label-column", DefaultText: "label, or another common name, which is printed",
			Usage: "`NAME` of the column with the labels"},
		&cli.StringFlag{Name: "split-column", DefaultText: "split", Usage: "`NAME` of the column with the splits"},
		&cli.StringFlag{Name: "true-column", DefaultText: "true_label",
			Usage: "`NAME` of the column with the true labels"},
	}
}

// Columns returns the values of [ColumnFlags].
func Columns(c *cli.Context) datasets.Names {
	return datasets.Names{Path: c.String("path-column"), Label: c.String("label-column"),
		Split: c.String("split-column"), True: c.String("true-column")}
}

// Named yields a flag of [ColumnFlags] and a column name for each name that is set.
func Named(n datasets.Names) iter.Seq2[string, string] {
	return func(yield func(flag, name string) bool) {
		for _, f := range [][2]string{{"--path-column", n.Path}, {"--label-column", n.Label},
			{"--split-column", n.Split}, {"--true-column", n.True}} {
			if f[1] != "" && !yield(f[0], f[1]) {
				return
			}
		}
	}
}

// NamesFlag returns the flag for a file of class names, which are shown instead of the labels.
func NamesFlag() cli.Flag {
	return &cli.StringFlag{Name: "names", DefaultText: "the manifest's column class_name",
		Usage: "show the class names in `FILE`.csv, columns class and name; output files keep the labels"}
}

// ClassNames returns the class names of d from a file ([NamesFlag]) or from a column of the manifest.
func (p *Program) ClassNames(file string, d *datasets.Dataset) (classnames.Names, error) {
	n, why, err := classnames.Choose(file, d)
	if why != "" {
		p.Note("%s", why)
	}
	return n, err
}
