import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLogging, type Logger } from './logger.ts'

function linesOf(work: (log: Logger) => void): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = []
  const write = (text: string): void => void lines.push(JSON.parse(text) as never)
  const logging = createLogging({
    filter: { levelOf: () => 'info' },
    format: 'json',
    destination: { write },
  })
  work(logging.forModule('hub.enroll'))
  return lines
}

describe('a log line', () => {
  test('has level, time, module, fields and message', () => {
    const [line] = linesOf((log) => log.info({ hostname: 'web-1' }, 'Agent enrolled'))
    assert.match(String(line?.['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const { time: _time, ...rest } = line ?? {}
    assert.deepEqual(rest, {
      level: 'info',
      module: 'hub.enroll',
      hostname: 'web-1',
      msg: 'Agent enrolled',
    })
  })

  test('has an error with its type, message and stack', () => {
    const [line] = linesOf((log) => log.error({ err: new TypeError('oops') }, 'Request failed'))
    const { stack, ...rest } = (line?.['err'] ?? {}) as Record<string, string>
    assert.deepEqual(rest, { type: 'TypeError', message: 'oops' })
    assert.match(stack ?? '', /logger\.test\.ts/)
  })

  for (const name of ['token', 'ott', 'csr_pem', 'passphrase', 'key_pem']) {
    test(`never has what is in a field ${name}`, () => {
      const [line] = linesOf((log) => log.info({ [name]: 'svct_secret' }, 'By mistake'))
      assert.equal(line?.[name], '[redacted]')
    })
  }

  for (const name of ['token', 'ott', 'key_pem']) {
    test(`never has what is in a field ${name} of an error or a report`, () => {
      const secret = { [name]: 'svct_secret' }
      const err = Object.assign(new Error('oops'), secret)
      const [line] = linesOf((log) => log.error({ err, report: secret }, 'By mistake'))
      assert.doesNotMatch(JSON.stringify(line), /svct_secret/)
    })
  }

  for (const token of [
    'svct_c2VjcmV0',
    'svca_c2VjcmV0',
    '%73vct%5Fc2VjcmV0',
    'c3ZjdF9jMlZqY21WMA==',
  ]) {
    test(`[LOG-5] never has the token ${token}, wherever it came from`, () => {
      const cause = new TypeError(`no ${token}`)
      const err = new Error(`bad ${token}`, { cause })
      const fields = {
        path: `/v1/enroll/${token}`,
        reason: `of ${token}, or "${token}"`,
        headers: { referer: `https://hub.example/?t=${token}`, cookie: [token] },
        err,
        [token]: 1,
      }
      const lines = linesOf((log) => {
        log.error(fields, `Request with ${token} failed`)
        log.info(token)
      })
      assert.equal(lines.length, 2)
      assert.ok(!JSON.stringify(lines).includes(token))
      assert.equal(lines[0]?.['path'], '/v1/enroll/[redacted]')
      assert.equal(lines[1]?.['msg'], '[redacted]')
    })
  }

  test('below the level of its module is none', () => {
    assert.deepEqual(
      linesOf((log) => log.debug('Request answered')),
      [],
    )
  })
})
