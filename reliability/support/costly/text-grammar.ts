// Text that is dear to search, split or decode: in headers, paths, and where PEM or a signed proof is wanted.

import type { Genome, Grammar } from './genome.ts'

export const pemGrammar: Grammar = {
  wrappers: ['as it is', 'a block', 'a block that has no end'],
  units: [
    '-----BEGIN CERTIFICATE-----',
    '-----END CERTIFICATE-----',
    'MIIBAAAA',
    'A',
    '=',
    ' ',
    '\\n',
    '-',
    'é',
  ],
  found: [{ wrapper: 'as it is', units: ['-----BEGIN CERTIFICATE-----'], size: 1 }],
  write: (genome, bytesMax) => {
    const text = repeat(genome, bytesMax - 80)
    if (genome.wrapper === 'as it is') return text
    const end = genome.wrapper === 'a block' ? '-----END CERTIFICATE-----' : ''
    return `-----BEGIN CERTIFICATE-----${text}${end}`
  },
}

export const proofGrammar: Grammar = {
  wrappers: ['as it is', 'a header of JSON', 'a header of a signature'],
  units: ['.', 'AAAA', '{"a":', '[', '1e1,', '"a":0,', '=', 'é'],
  found: [{ wrapper: 'a header of a signature', units: ['1e1,'], size: 1 }],
  write: (genome, bytesMax) => {
    if (genome.wrapper === 'as it is') return repeat(genome, bytesMax)
    const text = repeat(genome, (bytesMax * 3) / 4 - 200)
    const header = genome.wrapper === 'a header of JSON' ? text : '{"alg":"ES256"}'
    const parts = [header, text.slice(0, bytesMax / 4), 'A'.repeat(64)]
    return parts
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.')
      .slice(0, bytesMax)
  },
}

/** The value of the header that the wrapper names; a path below, or a query of, what is asked for. */
export const headGrammar: Grammar = {
  wrappers: [
    'if-none-match',
    'x-forwarded-for',
    'idempotency-key',
    'content-type',
    'last-event-id',
    'accept-encoding',
    'cookie',
    'authorization',
    'many headers',
    'path',
    'query',
  ],
  units: [
    ',',
    '"a",',
    'W/"',
    '127.0.0.1,',
    '::1, ',
    ';a=b',
    '/',
    '%41',
    '%',
    '..',
    '&a=b',
    '&',
    '=',
    'é',
  ],
  found: [{ wrapper: 'if-none-match', units: [','], size: 1 }],
  write: (genome, bytesMax) => repeat(genome, bytesMax),
}

function repeat({ units, size }: Genome, bytesMax: number): string {
  const unit = units.join('')
  return unit.repeat(Math.floor((bytesMax * size) / Buffer.byteLength(unit)))
}
