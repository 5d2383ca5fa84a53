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

// Address is where a server listens, and what it is asked for.
type Address struct {
	Table  string // "": named otherwise
	Schema string // "": the first of the search path
	Column string // of the vectors
	Metric Metric
	Build  HNSW
	Seen   int // ef_search, the candidates that a search looks at; 0: the server's setting, at least as many as are asked for

	config *pgx.ConnConfig
}

// HNSW are the settings of an index that is to be built; 0: pgvector's defaults.
type HNSW struct {
	Edges      int // m
	Candidates int // ef_construction
	Never      bool
}

// Metric is the distance that an index is built for. All order vectors of length 1 the same way.
type Metric struct{ Name, operator, class string }

var metrics = []Metric{{"cosine", "<=>", "cosine_ops"}, {"l2", "<->", "l2_ops"}, {"ip", "<#>", "ip_ops"}}

// expected is what an address looks like.
const expected = "postgres://USER@HOST:5432/DATABASE?table=NAME"

// connectTime is how long a server may take to answer a connection, where the address does not say.
const connectTime = 30 * time.Second

// ParseAddress reads postgres://user:password@host:port/database. The query may hold table, schema, column (embedding), metric
// (cosine, l2, ip), m and ef_construction of the index (m=0 builds none), ef_search; all else is read as libpq does (sslmode, connect_timeout, …),
// and so are the PG… variables of the environment. Errors do not quote the text, which may hold a password.
func ParseAddress(text string) (*Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, fmt.Errorf("pgvector: the address cannot be read, expected %s", expected)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("pgvector: what follows ? in the address cannot be read, expected %s", expected)
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
	}{{"m", &a.Build.Edges, 2, 100}, {"ef_construction", &a.Build.Candidates, 4, 1000}, {"ef_search", &a.Seen, 1, maxSeen}} {
		if text := take(number.name); text != "" {
			if *number.into, err = strconv.Atoi(text); err != nil || *number.into < number.from || *number.into > number.to {
				return nil, fmt.Errorf("pgvector: %s=%s, expected %d to %d", number.name, text, number.from, number.to)
			}
		}
	}
	if m, ef := cmp.Or(a.Build.Edges, 16), cmp.Or(a.Build.Candidates, 64); ef < 2*m {
		return nil, fmt.Errorf("pgvector: ef_construction=%d with m=%d, expected at least %d, twice as much", ef, m, 2*m)
	}
	u.RawQuery = q.Encode()
	if a.config, err = pgx.ParseConfig(u.String()); err != nil {
		return nil, fmt.Errorf("pgvector: the address cannot be read: %s, expected %s", reason(err, u), expected)
	}
	if a.config.ConnectTimeout == 0 {
		a.config.ConnectTimeout = connectTime
	}
	return a, nil
}

// reason is why an address cannot be read, without the address and its password.
func reason(err error, u *url.URL) string {
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
