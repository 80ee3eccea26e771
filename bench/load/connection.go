package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
)

// Connection is HTTP/1.1 by hand: net/http would cost this side more than the server spends on an answer.
type Connection struct {
	net.Conn
	reader *bufio.Reader
}

func dialPlain(network, address string) (*Connection, error) {
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &Connection{conn, bufio.NewReader(conn)}, nil
}

// Returns after the whole handshake.
func dialTLS(address string, config *tls.Config) (*Connection, error) {
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return nil, err
	}
	return &Connection{conn, bufio.NewReader(conn)}, nil
}

func getRequest(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

func postRequest(path string, body []byte) []byte {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, len(body))
	return append([]byte(head), body...)
}

// Sends one request and reads its answer; any other status than the one that is wanted is an error.
func (c *Connection) ask(request []byte, wanted int) ([]byte, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	status, body, err := c.readAnswer()
	if err == nil && status != wanted {
		err = fmt.Errorf("status %d instead of %d: %s", status, wanted, body)
	}
	return body, err
}

func (c *Connection) readAnswer() (status int, body []byte, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 {
		return 0, nil, fmt.Errorf("not HTTP: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length, isChunked := 0, false
	for {
		if line, err = c.reader.ReadSlice('\n'); err != nil {
			return 0, nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		if bytes.EqualFold(name, []byte("content-length")) {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, nil, err
			}
		}
		isChunked = isChunked || bytes.EqualFold(name, []byte("transfer-encoding"))
	}
	if isChunked {
		body, err = io.ReadAll(httputil.NewChunkedReader(c.reader))
		if err == nil {
			// The empty line after the last chunk.
			_, err = c.reader.ReadSlice('\n')
		}
		return status, body, err
	}
	body = make([]byte, length)
	_, err = io.ReadFull(c.reader, body)
	return status, body, err
}
