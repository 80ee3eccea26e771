// The verifier for browsers and the one of svc agree on every export: on Node's Web Crypto here, as one module that esbuild has bundled for
// a browser. What neither accepts is tested beside export-verifier.ts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { build } from 'esbuild'
import * as fc from 'fast-check'
import { type Content, makeContents, makeLog } from '../../../test/support/made-export.ts'
import { propertyRuns } from '../../../test/support/property.ts'
import { ExportVerifier, openExport } from '../export-verifier.ts'
import { parseVerifierKey } from '../signed-note.ts'
import type { verifyExport as Verify } from './verify-export.ts'

const COUNT = 40
const LOG = makeLog(makeContents(COUNT))
const SIGNER = parseVerifierKey(LOG.key) ?? assert.fail()

const { outputFiles } = await build({
  entryPoints: [new URL('verify-export.ts', import.meta.url).pathname],
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'chrome137',
  write: false,
})
const bundle = outputFiles[0]?.text ?? ''
const { verifyExport } = (await import(`data:text/javascript,${encodeURIComponent(bundle)}`)) as {
  verifyExport: typeof Verify
}

/** In pieces that end anywhere. */
async function* cut(text: string, size = 97): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function isGoodForSvc(text: string): boolean {
  const lines = text.split('\n')
  if (lines.pop() !== '') return false
  const opened = openExport(lines.shift() ?? '', { key: LOG.key, signer: SIGNER, kept: undefined })
  if (!(opened instanceof ExportVerifier)) return false
  if (lines.some((line) => opened.add(line) !== undefined)) return false
  return opened.chainFault === undefined && opened.finish() === undefined
}

describe('[CHN-32] [CHN-33] in a browser, an export', () => {
  test('is verified by a module that knows nothing of Node', async () => {
    assert.doesNotMatch(bundle, /require\(|from "node:|process\.|Buffer/)
    const verified = await verifyExport(cut(LOG.exportOf()), { key: LOG.key })
    const root = LOG.checkpointAt(COUNT).root.toString('base64')
    assert.partialDeepStrictEqual(verified, { ok: true, after: 0, until: COUNT, size: COUNT, root })
    assert.deepEqual(await verifyExport(cut(makeLog([]).exportOf()), { key: LOG.key }), {
      ok: true,
      after: 0,
      until: 0,
      size: 0,
      head: '0'.repeat(64),
      root: makeLog([]).checkpointAt(0).root.toString('base64'),
    })
  })

  test('of any part is good, and goes on from each checkpoint in that part', async () => {
    const ranges = fc.tuple(fc.nat({ max: COUNT }), fc.nat({ max: COUNT }), fc.nat({ max: COUNT }))
    await fc.assert(
      fc.asyncProperty(ranges, async ([one, other, size]) => {
        const [after, until] = [Math.min(one, other), Math.max(one, other)]
        const text = LOG.exportOf(after, until)
        const { ok } = await verifyExport(cut(text), { key: LOG.key, kept: LOG.noteAt(size) })
        assert.equal(ok, size >= after && size <= until)
      }),
      propertyRuns(60),
    )
  })

  test('that was changed anywhere is refused, as svc refuses it', async () => {
    const text = LOG.exportOf(5, 30)
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom('', '0', 'A', '"', ' ', '\\'),
        async (at, other) => {
          const place = at % text.length
          const changed = text.slice(0, place) + other + text.slice(place + 1)
          fc.pre(changed !== text)
          const { ok } = await verifyExport(cut(changed), { key: LOG.key })
          assert.deepEqual([ok, isGoodForSvc(changed)], [false, false])
        },
      ),
      propertyRuns(100),
    )
  })

  test('says what is wrong, and with which entry', async () => {
    const refusal = async (text: string, options: { key?: string; kept?: string } = {}) => {
      const verified = await verifyExport(cut(text), { key: LOG.key, ...options })
      return verified.ok ? undefined : [verified.entry, verified.reason]
    }
    const text = LOG.exportOf()
    const lines = text.split('\n')
    assert.deepEqual(await refusal(text.replace('"n\\":7', '"n\\":8')), [
      8,
      'the hash does not match the payload and timestamp',
    ])
    assert.deepEqual(await refusal(lines.with(3, '"x"').join('\n')), [3, 'it is no record'])
    assert.deepEqual(await refusal(lines.toSpliced(-2, 1).join('\n')), [
      undefined,
      'the export ends with entry 39 of 40',
    ])
    assert.deepEqual(await refusal(`${text}"x"\n`), [
      undefined,
      'there is more after the last entry',
    ])
    assert.deepEqual(await refusal(text.replace('7:agent-4', '7:agent-9')), [
      undefined,
      'the entries are not those that the checkpoint was signed for',
    ])
    assert.deepEqual(await refusal(text, { key: 'x' }), [undefined, 'this is not the key of a log'])
    assert.deepEqual(await refusal('x'), [undefined, 'the export is cut off within a line'])
    const forged = makeContents(COUNT).with(3, { ...(makeContents(1)[0] as Content), id: 'forged' })
    assert.deepEqual(await refusal(makeLog(forged).exportOf(), { kept: LOG.noteAt(20) }), [
      undefined,
      'the first 20 entries are not those of the kept checkpoint',
    ])
  })
})
