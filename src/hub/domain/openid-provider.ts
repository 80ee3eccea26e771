// What the hub asks of an OpenID provider, and what it is answered.

/** Of the ID token, verified; what the token does not say is of the provider's userinfo. */
export interface OpenidClaims {
  /** In the spelling of the settings. */
  readonly issuer: string
  readonly subject: string
  readonly all: Readonly<Record<string, unknown>>
}

/** What the hub made up for one sign-in, which the provider's answer has to fit. */
export interface OpenidRequest {
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  /** Of PKCE (RFC 7636). */
  readonly verifier: string
  /** Set, the provider is to ask the person again, however signed in, and to say that it did so since then. */
  readonly askedSince?: Date | undefined
}

/** As the provider sent them along with the browser. */
export interface OpenidAnswer {
  readonly code: string
  readonly state: string
  readonly iss?: string | undefined
}

export type OpenidFailure = {
  readonly ok: false
  readonly why: 'refused' | 'unavailable'
  readonly reason: string
}

export interface OpenidProvider {
  authorizationUrl(
    request: OpenidRequest,
  ): Promise<{ readonly ok: true; readonly url: URL } | OpenidFailure>
  /** Within a deadline, whatever the provider does. */
  exchange(
    request: OpenidRequest,
    answer: OpenidAnswer,
  ): Promise<{ readonly ok: true; readonly claims: OpenidClaims } | OpenidFailure>
  /** Whether it can be asked at all, for the doctor. */
  look(): Promise<{ readonly ok: true } | OpenidFailure>
}
