package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"winnow/internal/regular"
)

const (
	// readAndWrite is the OAuth scope winnow asks for.
	readAndWrite = "https://www.googleapis.com/auth/devstorage.read_write"
	// googleIssues issues tokens for a login.
	googleIssues = "https://oauth2.googleapis.com/token"
	// machineAsks is where a machine in Google's cloud, or a pod of its Kubernetes, gets tokens of its account.
	machineAsks = "metadata.google.internal"
	machinePath = "/computeMetadata/v1/instance/service-accounts/default/token"
)

// googleFile is a credentials file: of a service account, or the one that gcloud auth application-default login
// writes.
type googleFile struct {
	Type         string `json:"type"`
	Email        string `json:"client_email"`
	Key          string `json:"private_key"`
	KeyID        string `json:"private_key_id"`
	Tokens       string `json:"token_uri"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Refresh      string `json:"refresh_token"`
}

// googleTokens finds Google's default credentials as Google's own tools do: in the file named by
// GOOGLE_APPLICATION_CREDENTIALS, in gcloud's file, or from the machine's account. It returns nil if there are
// none.
func googleTokens(ctx context.Context, getenv func(string) string) (oauth2.TokenSource, error) {
	name := getenv("GOOGLE_APPLICATION_CREDENTIALS")
	data, err := regular.ReadFile(cmp.Or(name,
		filepath.Join(cmp.Or(getenv("CLOUDSDK_CONFIG"), filepath.Join(getenv("HOME"), ".config", "gcloud")),
			"application_default_credentials.json")), 1<<20)
	switch {
	case err == nil:
		return tokensOf(context.WithoutCancel(ctx), data)
	case name != "" || !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	m := machine{ctx: context.WithoutCancel(ctx), from: cmp.Or(getenv("GCE_METADATA_HOST"), machineAsks)}
	first, err := m.Token()
	if err != nil {
		return nil, nil // not a machine in Google's cloud
	}
	return oauth2.ReuseTokenSource(first, m), nil
}

// tokensOf returns the token source that a credentials file describes.
func tokensOf(ctx context.Context, data []byte) (oauth2.TokenSource, error) {
	var f googleFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("credentials file: %w", err)
	}
	switch f.Type {
	case "service_account":
		c := jwt.Config{Email: f.Email, PrivateKey: []byte(f.Key), PrivateKeyID: f.KeyID,
			Scopes: []string{readAndWrite}, TokenURL: cmp.Or(f.Tokens, googleIssues)}
		return c.TokenSource(ctx), nil
	case "authorized_user":
		c := oauth2.Config{ClientID: f.ClientID, ClientSecret: f.ClientSecret,
			Endpoint: oauth2.Endpoint{TokenURL: cmp.Or(f.Tokens, googleIssues)}}
		return c.TokenSource(ctx, &oauth2.Token{RefreshToken: f.Refresh}), nil
	}
	return nil, fmt.Errorf("credentials file: found type %q, expected service_account or authorized_user", f.Type)
}

// machine issues the tokens of a machine's account.
type machine struct {
	ctx  context.Context
	from string
}

// Token implements oauth2.TokenSource.
func (m machine) Token() (*oauth2.Token, error) {
	ctx, stop := context.WithTimeout(m.ctx, machineWait)
	defer stop()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.from+machinePath, nil)
	if err != nil {
		return nil, err
	}
	ask.Header.Set("Metadata-Flavor", "Google")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var t struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&t); err != nil ||
		answer.StatusCode != http.StatusOK || t.Token == "" {
		return nil, fmt.Errorf("the machine's account: found %s, expected a token", answer.Status)
	}
	return &oauth2.Token{AccessToken: t.Token, Expiry: time.Now().Add(time.Duration(t.Seconds) * time.Second)}, nil
}
