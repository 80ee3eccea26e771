/**
 * That of the client data of an authenticator's answer, before anything is verified: the library wants to be told which one to expect.
 * Empty, which no challenge is, where there is none, or for a page within another page.
 */
export function readChallenge(
  clientDataJSON: string,
  type: 'webauthn.create' | 'webauthn.get',
): string {
  try {
    const said: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'))
    if (typeof said !== 'object' || said === null) return ''
    const { challenge, type: saidType, crossOrigin } = said as Readonly<Record<string, unknown>>
    const isWanted = saidType === type && crossOrigin !== true && typeof challenge === 'string'
    return isWanted ? challenge : ''
  } catch {
    return ''
  }
}
