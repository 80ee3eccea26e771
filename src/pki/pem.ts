// PEM texts (RFC 7468) and the bytes in them, whatever they are.

const BLOCKS = {
  certificate: /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/,
  /** Nothing before it and nothing after it. */
  certificateRequest:
    /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/,
} as const

/** Of the first block of this kind, for who wants to know it by its hash before anything reads it; undefined when there is none. */
export function decodePem(text: string, kind: keyof typeof BLOCKS): Buffer | undefined {
  const base64 = BLOCKS[kind].exec(text)?.[1]
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64')
}

const LINE_CHARACTERS = 64

export function encodePem(
  der: Buffer,
  label: 'CERTIFICATE' | 'CERTIFICATE REQUEST' | 'PUBLIC KEY',
): string {
  const base64 = der.toString('base64')
  let lines = ''
  for (let at = 0; at < base64.length; at += LINE_CHARACTERS) {
    lines += `${base64.slice(at, at + LINE_CHARACTERS)}\n`
  }
  return `-----BEGIN ${label}-----\n${lines}-----END ${label}-----\n`
}
