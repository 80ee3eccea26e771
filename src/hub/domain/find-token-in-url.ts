/** A whole token; what follows its 43 characters is not part of it. */
const TOKEN = /svc[taj]_[A-Za-z0-9_-]{43}/
const ENCODED = /%([0-9A-Fa-f]{2})/g
/** A URL that was quoted in another one is encoded twice. */
const ENCODINGS_MAX = 2

/** The first token in a URL, of enrolment, of a join rule or an admin token, in its path or its query, percent-encoded or not. docs/protocol.md TOK-10. */
export function findTokenInUrl(url: string): string | undefined {
  let text = url
  for (let decoded = 0; ; decoded += 1) {
    const [token] = TOKEN.exec(text) ?? []
    if (token !== undefined || decoded === ENCODINGS_MAX || !text.includes('%')) return token
    text = text.replace(ENCODED, decodeCharacter)
  }
}

function decodeCharacter(_encoded: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}
