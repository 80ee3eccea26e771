import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { createConsoleFiles } from './console-files.ts'

const PAGE = '<!doctype html><title>Cartorio</title>'
const SCRIPT = 'export const answer = 42'

function pack(name: string, type: string, text: string) {
  const content = Buffer.from(text)
  return {
    name,
    type,
    sha256: hash('sha256', content),
    gzip: gzipSync(content).toString('base64'),
    brotli: brotliCompressSync(content).toString('base64'),
  }
}

const files = createConsoleFiles({
  files: [
    pack('page.html', 'text/html; charset=utf-8', PAGE),
    pack('console-AB12.js', 'text/javascript; charset=utf-8', SCRIPT),
  ],
})

function get(path: string, headers: { readonly encoding?: string; readonly tag?: string } = {}) {
  return files({ path, acceptEncoding: headers.encoding, ifNoneMatch: headers.tag })
}

test('[CON-2] every screen is the page, which lets nothing in from elsewhere and is asked for again', () => {
  for (const path of ['/console/', '/console/hosts/x', '/console/sign-in', '/console/page.html']) {
    const { status, headers, body } = get(path)
    assert.equal(status, 200)
    assert.equal(body?.toString(), PAGE)
    assert.equal(headers['cache-control'], 'no-cache')
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
  }
})

test('[CON-2] what comes is neither guessed at nor told of to others, and no other origin has it', () => {
  for (const path of ['/console/', '/console/assets/console-AB12.js']) {
    const { headers } = get(path)
    assert.deepEqual(
      [
        headers['x-content-type-options'],
        headers['referrer-policy'],
        headers['cross-origin-opener-policy'],
        headers['cross-origin-resource-policy'],
      ],
      ['nosniff', 'no-referrer', 'same-origin', 'same-origin'],
    )
  }
})

test('[CON-3] an asset is kept for ever under its name, and another name is nothing', () => {
  const { status, headers } = get('/console/assets/console-AB12.js')
  assert.equal(status, 200)
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
  for (const name of [
    'console-AB13.js',
    '',
    '../page.html',
    'page.html',
    '%2e%2e/page.html',
    '__proto__',
  ]) {
    assert.equal(get(`/console/assets/${name}`).status, 404, name)
  }
})

test('[CON-3] the client chooses the encoding', () => {
  const cases = [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
    ['identity', undefined, (body: Buffer) => body],
    [undefined, undefined, (body: Buffer) => body],
  ] as const
  for (const [accepted, encoding, open] of cases) {
    const { headers, body } = get('/console/', accepted === undefined ? {} : { encoding: accepted })
    assert.equal(headers['content-encoding'], encoding)
    assert.ok(body)
    assert.equal(open(body).toString(), PAGE)
    assert.equal(headers['vary'], 'accept-encoding')
  }
})

test('[CON-3] what the browser has already is not sent again', () => {
  const tag = get('/console/').headers['etag'] ?? ''
  const again = get('/console/', { tag })
  assert.equal(again.status, 304)
  assert.equal(again.body, undefined)
  assert.equal(get('/console/', { tag: '"another"' }).status, 200)
})
