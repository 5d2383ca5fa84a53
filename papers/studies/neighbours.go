package studies

import (
	"fmt"

	"winnow/report/page"
)

// shownBy returns the rows whose neighbours are shown: the trained ones, as in the paper.
func (r *Results) shownBy() (rows []int) {
	for i, row := range r.Study.Rows {
		if row.Recipe != "" {
			rows = append(rows, i)
		}
	}
	return rows
}

// Shown returns the paths of the images of a column that the page shows.
func (r *Results) Shown(column int) (paths []string) {
	for _, i := range r.shownBy() {
		o, _ := r.first(i, column)
		for _, q := range o.Queries {
			paths = append(paths, q.Path)
			for _, n := range q.Nearest {
				paths = append(paths, n.Path)
			}
		}
	}
	return paths
}

// found draws the neighbours of each column's queries for the lowest seed: for each query, one row below the other.
func (r *Results) found() (all []pageFound, err error) {
	if r.Study.Chart == nil || r.Study.Chart.Kind != Neighbours {
		return nil, nil
	}
	for j, column := range r.Study.Columns {
		files := map[string][]byte{}
		if j < len(r.Pictures) {
			files = r.Pictures[j]
		}
		f := pageFound{Title: column.Name}
		if len(files) == 0 {
			f.Note = "The pictures were not found, so their paths are shown: name the folder of the images, or a " +
				".zip file of it, as the root."
		}
		for k := 0; ; k++ {
			cards := r.cards(j, k, files)
			if len(cards) == 0 {
				break
			}
			part, err := page.Queries(cards)
			if err != nil {
				return nil, err
			}
			f.Queries = append(f.Queries, part)
		}
		if len(f.Queries) > 0 {
			all = append(all, f)
		}
	}
	return all, nil
}

// cards returns the neighbours that each row finds for a column's query; files are the pictures by path.
func (r *Results) cards(column, at int, files map[string][]byte) (list []page.QueryCard) {
	for _, i := range r.shownBy() {
		o, _ := r.first(i, column)
		if at >= len(o.Queries) {
			continue
		}
		q := o.Queries[at]
		card := page.QueryCard{
			By: r.Study.Rows[i].Name, Query: page.Picture{Data: files[q.Path], Caption: q.Class, File: q.Path},
		}
		for _, n := range q.Nearest {
			card.Nearest = append(card.Nearest, page.Picture{
				Data: files[n.Path], Caption: n.Class, Note: fmt.Sprintf("%.3f", n.Similarity),
				File: n.Path, Good: n.Hit,
			})
		}
		list = append(list, card)
	}
	return list
}

// foundStyle fits ten neighbours beside their query, with the file names below the pictures in one line.
const foundStyle = `
.found .query { gap:14px } .found .query ol { gap:10px }
.found .query figure, .found .mid { width:84px } .found .mid { height:84px }
.seen .file { -webkit-line-clamp:1 } .found h3 { font-size:16px; margin:22px 0 8px }
`
