package eval

import (
	"cmp"
	"context"
	"slices"

	"winnow/features"
)

// ClassRetrieval measures how well the images of one class find each other.
type ClassRetrieval struct {
	Label     int       `json:"label"`
	Retrieval Retrieval `json:"retrieval"` // result for the queries of the class
	// Misses is the number of queries whose nearest image has another class. Instead is the most frequent of these
	// classes (ties: the lower label; features.Unlabelled if there is none), and Times is its number of occurrences.
	Misses  int `json:"misses"`
	Instead int `json:"instead"`
	Times   int `json:"times"`
}

// RetrieveClasses returns the result of Retrieve for all queries, and for the queries of each class. The means of the
// class results, weighted by their numbers of queries, equal the overall results. Classes are ordered by label; a class
// without a usable query has N = 0. It takes twice the time of Retrieve.
func RetrieveClasses(
	ctx context.Context, query features.Set, gallery *features.Set, opts RetrievalOptions,
) (Retrieval, []ClassRetrieval, error) {
	all, err := askQueries(ctx, query, gallery, opts)
	if err != nil {
		return Retrieval{}, nil, err
	}
	asking, at := opts.sampleQueries(query)
	among := &query
	if gallery != nil {
		among = gallery
	}
	near, err := nearestOf(ctx, asking, *among, opts.Same.leaveOut(asking, gallery, at), 1, opts.MaxMem)
	if err != nil {
		return Retrieval{}, nil, err
	}
	rows := map[int][]int{}
	for i, label := range all.labels {
		if label != features.Unlabelled {
			rows[label] = append(rows[label], i)
		}
	}
	classes := make([]ClassRetrieval, 0, len(rows))
	for label, of := range rows {
		c := ClassRetrieval{Label: label, Retrieval: all.answersTo(of).sumAnswers(opts), Instead: features.Unlabelled}
		others := map[int]int{}
		for _, i := range of {
			if all.rank[i] == 0 || all.rank[i] < 0 && !opts.CountLonely {
				continue
			}
			if len(near[i]) > 0 {
				c.Misses++
				others[among.Labels[near[i][0].Row]]++
			}
		}
		c.Instead, c.Times = mostFrequent(others)
		classes = append(classes, c)
	}
	slices.SortFunc(classes, func(a, b ClassRetrieval) int { return cmp.Compare(a.Label, b.Label) })
	return all.sumAnswers(opts), classes, nil
}

// mostFrequent returns the label with the highest count (ties: the lowest label), and the count.
func mostFrequent(counts map[int]int) (label, times int) {
	label = features.Unlabelled
	for l, n := range counts {
		if n > times || n == times && l < label {
			label, times = l, n
		}
	}
	return label, times
}

// answersTo returns the answers to the listed queries.
func (a answers) answersTo(rows []int) (b answers) {
	for _, i := range rows {
		b.labels, b.rank = append(b.labels, a.labels[i]), append(b.rank, a.rank[i])
		b.rp, b.ap = append(b.rp, a.rp[i]), append(b.ap, a.ap[i])
	}
	return b
}
