package studies

import (
	"io"

	"winnow/internal/text"
)

// Document is the JSON form of results, unrounded.
type Document struct {
	Study   string         `json:"study"`
	Data    string         `json:"data"`
	StandIn bool           `json:"stand_in"`
	Cells   []documentCell `json:"cells"`
	Claims  []Verdict      `json:"claims"`
}

// documentCell is a cell over its seeds, in the measure's own scale.
type documentCell struct {
	Row     string          `json:"row"`
	Column  string          `json:"column"`
	Measure string          `json:"measure"`
	Values  map[int]float64 `json:"values"` // by seed
	Paper   *float64        `json:"paper,omitempty"`
}

// Document returns the JSON form.
func (r *Results) Document() Document {
	d := Document{Study: r.Study.Name, Data: r.Data, StandIn: r.StandIn, Cells: []documentCell{}, Claims: r.Verdicts()}
	for i, row := range r.Study.Rows {
		for j, column := range r.Study.Columns {
			for _, m := range r.listMeasures() {
				c := documentCell{Row: row.Name, Column: column.Name, Measure: m, Values: r.collectValues(i, j, m)}
				if p, ok := r.paperValue(side{i, j}, m); ok && !r.StandIn {
					c.Paper = &p
				}
				if len(c.Values) > 0 {
					d.Cells = append(d.Cells, c)
				}
			}
		}
	}
	return d
}

// JSON writes the cells of the tables by seed, and the verdicts.
func (r *Results) JSON(w io.Writer) error { return text.JSON(w, r.Document()) }
