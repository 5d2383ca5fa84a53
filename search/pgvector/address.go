package pgvector

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Address is the address of a database, with the settings given in it.
type Address struct {
	Table  string // "" if the address does not name one
	Schema string // "" for the first of the search path
	Column string // the vector column
	Metric metric
	Build  hnsw
	Seen   int // ef_search, the candidates a search looks at; 0: the server's setting, but at least the hits asked for

	config *pgx.ConnConfig
}

// hnsw holds the settings of an index to be built; 0 means pgvector's default.
type hnsw struct {
	Edges      int // m
	Candidates int // ef_construction
	Never      bool
}

// metric is the distance an index is built for. All metrics order unit vectors the same way.
type metric struct{ Name, operator, class string }

var metrics = []metric{{"cosine", "<=>", "cosine_ops"}, {"l2", "<->", "l2_ops"}, {"ip", "<#>", "ip_ops"}}

// expected shows the form of an address.
const expected = "postgres://USER@HOST:5432/DATABASE?table=NAME"

// connectTime is how long to wait for a connection if the address does not say.
const connectTime = 30 * time.Second

// ParseAddress parses postgres://user:password@host:port/database. The query may hold table, schema, column
// (default embedding), metric (cosine, l2, ip), the index's m and ef_construction (m=0 builds no index), and
// ef_search. All other options (sslmode, connect_timeout, …) and the PG… environment variables are read as libpq
// does. Errors do not quote the text, which may hold a password.
func ParseAddress(text string) (*Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, fmt.Errorf("pgvector: the address cannot be read, expected %s", expected)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("pgvector: the options after ? in the address cannot be read, expected %s", expected)
	}
	take := func(name string) string {
		defer q.Del(name)
		return q.Get(name)
	}
	a := &Address{Table: take("table"), Schema: take("schema"), Column: cmp.Or(take("column"), "embedding")}
	name := cmp.Or(take("metric"), metrics[0].Name)
	for _, m := range metrics {
		if m.Name == name {
			a.Metric = m
		}
	}
	if a.Metric.Name == "" {
		return nil, fmt.Errorf("pgvector: metric=%s, expected cosine, l2 or ip", name)
	}
	a.Build.Never = q.Get("m") == "0"
	if a.Build.Never {
		q.Del("m")
	}
	for _, number := range []struct {
		name     string
		into     *int
		from, to int
	}{{"m", &a.Build.Edges, 2, 100}, {"ef_construction", &a.Build.Candidates, 4, 1000},
		{"ef_search", &a.Seen, 1, maxSeen}} {
		if text := take(number.name); text != "" {
			if *number.into, err = strconv.Atoi(text); err != nil || *number.into < number.from ||
				*number.into > number.to {
				return nil, fmt.Errorf("pgvector: %s=%s, expected %d to %d", number.name, text, number.from, number.to)
			}
		}
	}
	if m, ef := cmp.Or(a.Build.Edges, 16), cmp.Or(a.Build.Candidates, 64); ef < 2*m {
		return nil, fmt.Errorf("pgvector: ef_construction=%d with m=%d, expected at least %d, twice m", ef, m, 2*m)
	}
	u.RawQuery = q.Encode()
	if a.config, err = pgx.ParseConfig(u.String()); err != nil {
		return nil, fmt.Errorf("pgvector: the address cannot be read: %s, expected %s", addressReason(err, u), expected)
	}
	if a.config.ConnectTimeout == 0 {
		a.config.ConnectTimeout = connectTime
	}
	return a, nil
}

// addressReason says why an address cannot be read, without quoting the address or its password.
func addressReason(err error, u *url.URL) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	text := err.Error()
	secrets := []string{u.Query().Get("password")}
	if word, set := u.User.Password(); set {
		secrets = append(secrets, word)
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// String returns the address without user and password.
func (a *Address) String() string {
	host := net.JoinHostPort(a.config.Host, strconv.Itoa(int(a.config.Port)))
	if strings.HasPrefix(a.config.Host, "/") {
		host = a.config.Host
	}
	return "postgres://" + host + "/" + url.PathEscape(a.config.Database)
}
