package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// As src/agent/hub/request.ts.
	connectTimeout = 5 * time.Second
	requestTimeout = 15 * time.Second
	bodyBytesMax   = 1 << 20
	// Small, since there are many; no line of an answer is longer.
	bufferBytes = 2048
)

// Connection is HTTP/1.1 by hand: net/http takes three goroutines and 20 KiB for each.
type Connection struct {
	raw    net.Conn
	stream net.Conn
	reader *bufio.Reader
	open   *atomic.Int64
	closed atomic.Bool
}

// Reply is what the agent looks at of an answer.
type Reply struct {
	status     int
	body       []byte
	etag       string
	retryAfter time.Duration
	isLast     bool
}

// Refusal is an answer that is not a success.
type Refusal struct {
	status     int
	code       string
	retryAfter time.Duration
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s", r.status, r.code) }

// Dials from an address of the agent's own, as a host has one.
func dial(network, address string, from net.IP, config *tls.Config, open *atomic.Int64) (*Connection, error) {
	deadline := time.Now().Add(connectTimeout)
	dialer := net.Dialer{Deadline: deadline, KeepAlive: -1}
	if from != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: from}
	}
	raw, err := dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	connection := &Connection{raw: raw, stream: raw, open: open}
	if config != nil {
		secured := tls.Client(raw, config)
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		err := secured.HandshakeContext(ctx)
		cancel()
		if err != nil {
			raw.Close()
			return nil, err
		}
		connection.stream = secured
	}
	connection.reader = bufio.NewReaderSize(connection.stream, bufferBytes)
	open.Add(1)
	return connection, nil
}

// Ends at once, as when its process is gone.
func (c *Connection) close() {
	if c != nil && c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
		c.raw.Close()
	}
}

func (c *Connection) ask(request []byte) (*Reply, error) {
	c.raw.SetDeadline(time.Now().Add(requestTimeout))
	if _, err := c.stream.Write(request); err != nil {
		return nil, err
	}
	reply, isChunked, length, err := c.readHead()
	if err != nil {
		return nil, err
	}
	switch {
	case isChunked:
		reply.body, err = io.ReadAll(io.LimitReader(httputil.NewChunkedReader(c.reader), bodyBytesMax))
		if err == nil {
			// The empty line after the last chunk.
			_, err = c.reader.ReadSlice('\n')
		}
	case length > bodyBytesMax:
		err = errors.New("too long an answer")
	case length > 0:
		reply.body = make([]byte, length)
		_, err = io.ReadFull(c.reader, reply.body)
	}
	return reply, err
}

func (c *Connection) readHead() (reply *Reply, isChunked bool, length int, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return nil, false, 0, err
	}
	reply = &Reply{}
	if len(line) < 12 {
		return nil, false, 0, fmt.Errorf("not HTTP: %q", line)
	}
	if reply.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return nil, false, 0, err
	}
	for {
		if line, err = c.reader.ReadSlice('\n'); err != nil {
			return nil, false, 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return reply, isChunked, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch strings.ToLower(string(name)) {
		case "content-length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return nil, false, 0, err
			}
		case "transfer-encoding":
			isChunked = true
		case "etag":
			reply.etag = string(value)
		case "connection":
			reply.isLast = strings.EqualFold(string(value), "close")
		case "retry-after":
			seconds, _ := strconv.Atoi(string(value))
			reply.retryAfter = time.Duration(seconds) * time.Second
		}
	}
}

func getRequest(path, more string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: svc-agent/fleet\r\nAccept: application/json\r\n" + more + "\r\n")
}

func postRequest(path string, body []byte, more string) []byte {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: svc-agent/fleet\r\nAccept: application/json\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n%s\r\n", path, len(body), more)
	return append([]byte(head), body...)
}

// In the words of the report.
func kindOf(err error) string {
	var refusal *Refusal
	var alert tls.AlertError
	switch {
	case errors.As(err, &refusal):
		return refusal.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "cut"
	case errors.As(err, &alert):
		return "TLS " + alert.Error()
	}
	return err.Error()
}
