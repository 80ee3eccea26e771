package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	betweenRequests = 15 * time.Millisecond
	requestTimeout  = 10 * time.Second
	manifestRequest = "GET /v1/manifest HTTP/1.1\r\nHost: hub\r\n\r\n"
)

// Honest is what the agent is told once.
type Honest struct {
	Address string `json:"address"`
	Identity
}

// Samples are milliseconds: of requests on the connection that is kept, and of requests with a connection of their own,
// from before the TCP connection to the last byte of the answer.
type Samples struct {
	Kept     []float64 `json:"kept_ms"`
	New      []float64 `json:"new_ms"`
	Failures []string  `json:"failures"`
}

func behave(input *bufio.Reader) error {
	var honest Honest
	if err := readCommand(input, &honest); err != nil {
		return err
	}
	config, err := honest.clientConfig(false)
	if err != nil {
		return err
	}
	for {
		var command struct {
			Seconds float64 `json:"seconds"`
		}
		if err := readCommand(input, &command); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		samples := honest.measure(config, time.Duration(command.Seconds*float64(time.Second)))
		if err := printAnswer(samples); err != nil {
			return err
		}
	}
}

// One request at a time, as an agent has it, so that its own work never delays what it measures.
func (honest Honest) measure(config *tls.Config, during time.Duration) Samples {
	samples := Samples{Kept: []float64{}, New: []float64{}, Failures: []string{}}
	fail := func(what string, err error) {
		samples.Failures = append(samples.Failures, what+": "+err.Error())
	}
	var kept *tls.Conn
	deadline := time.Now().Add(during)
	for time.Now().Before(deadline) {
		if kept == nil {
			connection, err := honest.dial(config)
			if err != nil {
				fail("connection", err)
				time.Sleep(betweenRequests)
				continue
			}
			kept = connection
			defer connection.Close()
		}
		started := time.Now()
		if err := askForManifest(kept); err != nil {
			fail("kept", err)
			kept = nil
		} else {
			samples.Kept = append(samples.Kept, millisecondsSince(started))
		}
		time.Sleep(betweenRequests)
		started = time.Now()
		if err := honest.askOnce(config); err != nil {
			fail("new", err)
		} else {
			samples.New = append(samples.New, millisecondsSince(started))
		}
		time.Sleep(betweenRequests)
	}
	return samples
}

func (honest Honest) dial(config *tls.Config) (*tls.Conn, error) {
	return tls.DialWithDialer(dialerFrom(nil, requestTimeout), "tcp", honest.Address, config)
}

func (honest Honest) askOnce(config *tls.Config) error {
	connection, err := honest.dial(config)
	if err != nil {
		return err
	}
	defer connection.Close()
	return askForManifest(connection)
}

func askForManifest(connection *tls.Conn) error {
	_ = connection.SetDeadline(time.Now().Add(requestTimeout))
	if _, err := io.WriteString(connection, manifestRequest); err != nil {
		return err
	}
	status, err := readAnswer(bufio.NewReader(connection))
	if err == nil && status != http.StatusOK {
		err = errors.New(http.StatusText(status))
	}
	return err
}

func readAnswer(reader *bufio.Reader) (status int, err error) {
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func millisecondsSince(started time.Time) float64 {
	return float64(time.Since(started).Microseconds()) / 1000
}
