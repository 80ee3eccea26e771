import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../../test/support/property.ts'
import { RequestRefusal } from './request-refusal.ts'
import { parseJsonBody } from './json-body.ts'
import { JSON_ROOM } from './json-room.ts'

const DEPTH_MAX = 32

function outcomeOf(
  body: string | Uint8Array,
  depthMax = DEPTH_MAX,
): { value?: unknown; refusal?: string } {
  try {
    return { value: parseJsonBody(Buffer.from(body as string), { ...JSON_ROOM.mtls, depthMax }) }
  } catch (error) {
    assert.ok(error instanceof RequestRefusal, String(error))
    return { refusal: error.refusal }
  }
}

/** Exact value of a JSON number: digits times a power of ten, without trailing zeros in the digits. */
function decimalOf(text: string): { digits: bigint; power: number } {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  let digits = BigInt(whole.replace('-', '') + fraction)
  let power = Number(exponent) - fraction.length
  if (digits === 0n) return { digits, power: 0 }
  while (digits % 10n === 0n) {
    digits /= 10n
    power += 1
  }
  return { digits: whole.startsWith('-') ? -digits : digits, power }
}

/** Whether a number, read as a double and written as JavaScript writes it, is still the same number. */
function survives(text: string): boolean {
  const read = Number(text)
  if (!Number.isFinite(read)) return false
  const [before, after] = [decimalOf(text), decimalOf(String(read))]
  return before.digits === after.digits && before.power === after.power
}

const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`))
const whole = fc.oneof(
  fc.stringMatching(/^(0|[1-9][0-9]{0,24})$/),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 9n }).map(String),
)
const exponent = fc
  .tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), digits(3))
  .map((parts) => parts.join(''))
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    whole,
    fc.option(
      digits(22).map((text) => `.${text}`),
      { nil: '' },
    ),
    fc.option(exponent, { nil: '' }),
  )
  .map((parts) => parts.join(''))

describe('numbers', () => {
  test('[EVT-12] are refused exactly when exact arithmetic says that they change', () => {
    const place = fc.constantFrom(
      (text: string) => text,
      (text: string) => ` \n${text}\t`,
      (text: string) => `[${text}]`,
      (text: string) => `{"a":${text}}`,
      (text: string) => `[1, ${text} ,2]`,
      (text: string) => `{"a": [{"b" :\r\n ${text}}]}`,
    )
    fc.assert(
      fc.property(numberText, place, (text, put) => {
        const { refusal } = outcomeOf(put(text))
        assert.equal(refusal, survives(text) ? undefined : 'request_invalid', put(text))
      }),
      propertyRuns(3000),
    )
  })

  test('[EVT-12] every double survives in every spelling that JSON.stringify has for it', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const text = JSON.stringify({ n: [number] })
        assert.deepEqual(outcomeOf(text).value, JSON.parse(text))
      }),
      propertyRuns(1000),
    )
  })
})

/** As the reviver of JSON.parse sees the numbers, which costs it a millisecond for a kilobyte of them. */
function hasLossyNumber(text: string): boolean {
  let isLossy = false
  // The reviver's third argument (JSON.parse source text access) is newer than TypeScript's library.
  const look = (_key: string, value: unknown, { source }: { source?: string }): unknown => {
    isLossy ||= typeof value === 'number' && source !== undefined && !survives(source)
    return value
  }
  JSON.parse(text, look as (key: string, value: unknown) => unknown)
  return isLossy
}

describe('numbers among other things', () => {
  test('[EVT-12] are refused exactly when the reviver of JSON.parse sees one that changes', () => {
    const blank = fc.constantFrom('', ' ', '\n', '\t\r\n')
    const word = fc.oneof(
      fc.stringMatching(/^[-0-9eE.+\\"{}[\],: ]{0,12}$/).map((text) => JSON.stringify(text)),
      fc.constantFrom('"\\\\"', '"\\""', '"\\u0022"', '"1e999"', 'null', 'true', 'false'),
    )
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        numberText,
        word,
        fc
          .tuple(fc.array(tie('value'), { maxLength: 5 }), blank)
          .map(([items, space]) => `[${items.join(`${space},${space}`)}]`),
        fc.tuple(fc.array(tie('value'), { maxLength: 5 }), blank).map(([items, space]) => {
          const fields = items.map((item, at) => `"${at}\\\\"${space}:${space}${item}`)
          return `{${fields.join(',')}}`
        }),
      ),
    }))
    fc.assert(
      fc.property(value, (text) => {
        const { refusal } = outcomeOf(text)
        assert.equal(refusal, hasLossyNumber(text) ? 'request_invalid' : undefined, text)
      }),
      propertyRuns(3000),
    )
  })
})

describe('bodies', () => {
  test('[SRF-5] any JSON value comes out as JSON.parse reads it, with its own keys whatever they are called', () => {
    const key = fc.oneof(anyText(), fc.constantFrom('__proto__', 'constructor', 'a', ''))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(null, true, false),
        anyText(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc
          .array(fc.tuple(key, tie('value')), { maxLength: 4 })
          .map((entries) => Object.fromEntries(entries)),
      ),
    }))
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (json, indent) => {
        const text = JSON.stringify(json, undefined, indent)
        assert.deepEqual(outcomeOf(text), { value: JSON.parse(text) })
      }),
      propertyRuns(500),
    )
  })

  test('[ERR-1] [ERR-2] any bytes are read as JSON.parse reads them or refused, and nothing else is thrown', () => {
    const near = fc.string({
      unit: fc.constantFrom(...'[]{}",:0123456789.eE-+ \\u'.split(''), 'true', 'null', '"a"'),
    })
    const bytes = fc.oneof(
      fc.uint8Array(),
      near.map((text) => Buffer.from(text)),
    )
    fc.assert(
      fc.property(bytes, (body) => {
        const { value, refusal } = outcomeOf(body)
        const expected = parsed(Buffer.from(body))
        if (expected === undefined) assert.equal(refusal, 'json_invalid')
        else if (refusal === undefined) assert.deepEqual(value, expected.value)
        else assert.equal(refusal, 'request_invalid')
      }),
      propertyRuns(3000),
    )
  })

  test('[LIM-4] a value is refused exactly when it is deeper than the limit, also when the limit is lifted', () => {
    const brackets = fc.constantFrom(['[', ']', ''], ['{"a":', '}', '1'], ['[1,', ']', '2'])
    const levels = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(5000, 15_000))
    const limit = fc.constantFrom(1, 32, 64, Number.POSITIVE_INFINITY)
    fc.assert(
      fc.property(brackets, levels, limit, ([open, close, inner], count, depthMax) => {
        const text = open.repeat(count) + inner + close.repeat(count)
        const { refusal } = outcomeOf(text, depthMax)
        // Beyond a thousand no stack is safe.
        assert.equal(refusal, count > Math.min(depthMax, 1000) ? 'request_invalid' : undefined)
      }),
      propertyRuns(300),
    )
  })
})

function parsed(body: Buffer): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown }
  } catch {
    return undefined
  }
}
