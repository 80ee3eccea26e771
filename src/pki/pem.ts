// The bytes in a PEM text (RFC 7468), whatever they are: for who wants to know them by their hash before anything reads them.

const BLOCKS = {
  certificate: /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/,
  /** Nothing before it and nothing after it. */
  certificateRequest:
    /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/,
} as const

/** Of the first block of this kind; undefined when there is none. */
export function decodePem(text: string, kind: keyof typeof BLOCKS): Buffer | undefined {
  const base64 = BLOCKS[kind].exec(text)?.[1]
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64')
}
