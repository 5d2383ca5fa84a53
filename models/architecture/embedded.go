package architecture

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"winnow/internal/catalog"
)

// files holds the descriptions that are part of the program, as NAME.yaml.
//
//go:embed networks/*.yaml
var files embed.FS

// Names lists the networks that are part of the program.
func Names() []string {
	entries, err := files.ReadDir("networks")
	if err != nil {
		panic("architecture: " + err.Error()) // it is compiled in
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Text returns the description of an embedded network.
func Text(name string) ([]byte, error) {
	if err := catalog.Check("architecture: network", name, Names()...); err != nil {
		return nil, fmt.Errorf("%w, or a .yaml file", err)
	}
	return files.ReadFile("networks/" + name + ".yaml")
}

// Embedded parses an embedded network.
func Embedded(name string) (*Network, error) {
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", text)
}

// Listed is one line of the list.
type Listed struct {
	Name       string `json:"name"`
	Channels   int    `json:"channels"`
	Side       int    `json:"side"`
	Dim        int    `json:"dim"`
	Parameters int64  `json:"parameters"`
	About      string `json:"about"`
}

// List describes the networks that are part of the program.
func List() (list []Listed, err error) {
	for _, name := range Names() {
		n, err := Embedded(name)
		if err != nil {
			return nil, err
		}
		list = append(list, Listed{n.Name, n.Channels, n.Side, n.Dim, n.Parameters, n.About})
	}
	return list, nil
}

// WriteList writes a list of networks as text.
func WriteList(out io.Writer, list []Listed) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tIMAGES\tFEATURES\tPARAMETERS\tWHAT")
	for _, a := range list {
		fmt.Fprintf(w, "%s\t%d×%d×%d\t%d\t%d\t%s\n", a.Name, a.Channels, a.Side, a.Side, a.Dim, a.Parameters, a.About)
	}
	return w.Flush()
}
