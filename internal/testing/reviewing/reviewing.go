// Package reviewing makes decisions on the page of winnow studio, like a person who knows which images were misplaced.
package reviewing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Page is the review server at its printed address.
type Page struct {
	Reviewer    string // name of the reviewer; "": no name
	host, token string
}

// Open returns the page at an address.
func Open(address string) (Page, error) {
	at, err := url.Parse(address)
	if err != nil {
		return Page{}, err
	}
	return Page{host: at.Host, token: at.Query().Get("token")}, nil
}

// Row is an image listed on the page.
type Row struct {
	ID, Version            int
	Path, Given, Suggested string
}

// Next returns up to limit undecided images, in the order of the page.
func (p Page) Next(limit int) ([]Row, error) {
	return p.rows(fmt.Sprintf("state=undecided&limit=%d&reviewer=%s", limit, url.QueryEscape(p.Reviewer)))
}

// Suspects returns up to limit of the most suspect images.
func (p Page) Suspects(limit int) ([]Row, error) {
	return p.rows(fmt.Sprintf("kind=suspect&state=all&sort=suspect&limit=%d", limit))
}

func (p Page) rows(query string) ([]Row, error) {
	var page struct{ Rows []Row }
	err := p.ask(http.MethodGet, "/api/rows?"+query, nil, &page)
	return page.Rows, err
}

// Decide decides about images. The names of the quickstart's images begin with what they show: those in another folder
// get that label, or are dropped if it is no class. Images whose names begin with "mislaid" get the suggested label or,
// if there is none, are dropped. All others are kept.
func (p Page) Decide(rows []Row) error {
	var list []any
	for _, r := range rows {
		d := map[string]any{"id": r.ID, "version": r.Version, "action": "keep"}
		shown, _, named := strings.Cut(path.Base(r.Path), "-")
		if strings.HasPrefix(shown, "mislaid") {
			shown, named = r.Suggested, true
		}
		switch {
		case !named:
		case shown == "something" || strings.HasPrefix(path.Base(r.Path), "mislaid") && shown == r.Given:
			d["action"] = "drop"
		case shown != r.Given:
			d["action"], d["label"] = "relabel", shown
		}
		list = append(list, d)
	}
	body := map[string]any{"tab": "reviewing", "reviewer": p.Reviewer, "decisions": list}
	return p.ask(http.MethodPost, "/api/decide", body, new(any))
}

// Review makes n decisions, or fewer if there are fewer images.
func (p Page) Review(n int) error {
	for n > 0 {
		rows, err := p.Next(min(n, 20))
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := p.Decide(rows); err != nil {
			return err
		}
		n -= len(rows)
	}
	return nil
}

func (p Page) ask(method, to string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, "http://"+p.host+to, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if text, err = io.ReadAll(got.Body); err != nil {
		return err
	}
	if got.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", to, got.Status, text)
	}
	return json.Unmarshal(text, answer)
}
