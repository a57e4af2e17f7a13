// A webhook receiver without dependencies, for Go 1.18 or newer.
//
//	WEBHOOK_SECRET=whsec_… PORT=8080 go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	toleranceSeconds = 300
	bodyBytesMax     = 1_000_000
)

// Every request is signed in two ways. Your receiver needs only one of the next two functions. In both, rawBody must be the
// bytes as received, not JSON that was parsed and serialised again.

// isAuthentic reports whether Bookflow signed this request: Service-Signature.
func isAuthentic(header string, rawBody []byte, secret string) bool {
	timestamp := ""
	var given []string
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if strings.HasPrefix(part, "t=") {
			timestamp = part[len("t="):]
		} else if strings.HasPrefix(part, "v1=") {
			given = append(given, part[len("v1="):])
		}
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	return isRecent(timestamp) && isOneOf(hex.EncodeToString(mac.Sum(nil)), given)
}

// isAuthenticStandard does the same with the headers of Standard Webhooks, whose libraries do this for you.
func isAuthenticStandard(headers http.Header, rawBody []byte, secret string) bool {
	timestamp := headers.Get("webhook-timestamp")
	var given []string
	for _, part := range strings.Split(headers.Get("webhook-signature"), " ") {
		if strings.HasPrefix(part, "v1,") {
			given = append(given, part[len("v1,"):])
		}
	}
	key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(headers.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(rawBody)
	return isRecent(timestamp) && isOneOf(base64.StdEncoding.EncodeToString(mac.Sum(nil)), given)
}

func isRecent(timestamp string) bool {
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil {
		return false
	}
	age := time.Now().Unix() - int64(seconds)
	return age <= toleranceSeconds && age >= -toleranceSeconds
}

// isOneOf compares in constant time. While a rotation overlaps, requests carry one signature per secret. Either is enough.
func isOneOf(expected string, given []string) bool {
	for _, one := range given {
		if hmac.Equal([]byte(one), []byte(expected)) {
			return true
		}
	}
	return false
}

type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Booking struct {
			Reference string `json:"reference"`
		} `json:"booking"`
	} `json:"data"`
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if !strings.HasPrefix(secret, "whsec_") {
		log.Fatal("Set WEBHOOK_SECRET to the endpoint's signing secret, whsec_ included")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	// In production, use a table with a unique column: an event may arrive again, even after you restart.
	var seen sync.Map
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		rawBody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
		if err != nil {
			http.Error(response, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		header := request.Header.Get("Service-Signature")
		isSigned := header != "" && isAuthentic(header, rawBody, secret) ||
			header == "" && isAuthenticStandard(request.Header, rawBody, secret)
		if !isSigned {
			http.Error(response, "bad signature", http.StatusBadRequest)
			return
		}
		var received event
		if err := json.Unmarshal(rawBody, &received); err != nil {
			http.Error(response, "not JSON", http.StatusBadRequest)
			return
		}
		_, isKnown := seen.LoadOrStore(received.ID, true)
		// Respond once the event is stored and before you process it. Bookflow waits 15 seconds for a response.
		response.WriteHeader(http.StatusNoContent)
		if !isKnown && received.Type == "booking.created" {
			fmt.Println(received.ID, received.Data.Booking.Reference)
		}
	})
	fmt.Fprintln(os.Stderr, "ready")
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
