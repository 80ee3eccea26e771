// What the row "abuse" needs besides the hub, one program with two roles. `abuse attack` reads one line of JSON, attacks
// until its input ends, and prints what came of it. `abuse honest` is one agent: for each line that says how long, it
// prints how long each of its requests took.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Identity is a client certificate with what it takes to use it on the mutual TLS port.
type Identity struct {
	CertPEM    string `json:"cert_pem"`
	KeyPEM     string `json:"key_pem"`
	CaPEM      string `json:"ca_pem"`
	ServerName string `json:"server_name"`
}

func main() {
	var err error
	input := bufio.NewReader(os.Stdin)
	switch {
	case len(os.Args) == 2 && os.Args[1] == "attack":
		err = attack(input)
	case len(os.Args) == 2 && os.Args[1] == "honest":
		err = behave(input)
	default:
		err = fmt.Errorf("attack or honest")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "abuse:", err)
		os.Exit(1)
	}
}

// Answers io.EOF when there is no further line.
func readCommand(input *bufio.Reader, command any) error {
	line, err := input.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, command)
}

func printAnswer(answer any) error {
	return json.NewEncoder(os.Stdout).Encode(answer)
}

// Without the certificate when it is a stranger's.
func (identity Identity) clientConfig(isStranger bool) (*tls.Config, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(identity.CaPEM)) {
		return nil, fmt.Errorf("no CA certificate")
	}
	config := &tls.Config{
		RootCAs:                roots,
		ServerName:             identity.ServerName,
		SessionTicketsDisabled: true,
	}
	if isStranger {
		return config, nil
	}
	pair, err := tls.X509KeyPair([]byte(identity.CertPEM), []byte(identity.KeyPEM))
	config.Certificates = []tls.Certificate{pair}
	return config, err
}

func waitForEnd(input *bufio.Reader) {
	_, _ = io.Copy(io.Discard, input)
}
