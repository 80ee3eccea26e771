import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseLogFilter } from './log-filter.ts'
import { propertyRuns } from '../../test/support/property.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const

test('[LOG-3] the longest module that matches decides, the bare level for the rest', () => {
  const filter = parseLogFilter('hub=warn, hub.enroll=debug,hub::mtls=TRACE,error')
  const expected = {
    hub: 'warn',
    'hub.enroll': 'debug',
    'hub.enroll.deep': 'debug',
    'hub.enrollment': 'warn',
    'hub.mtls': 'trace',
    'hub.boot': 'warn',
    hubs: 'error',
    agent: 'error',
  }
  for (const [module, level] of Object.entries(expected)) {
    assert.equal(filter?.levelOf(module), level, module)
  }
})

test('[LOG-3] without a bare level the rest is info', () => {
  assert.equal(parseLogFilter('')?.levelOf('x'), 'info')
  assert.equal(parseLogFilter('hub=debug')?.levelOf('x'), 'info')
})

test('[LOG-3] what is no filter is none', () => {
  for (const text of ['loud', 'hub=loud', '=info', 'hub=', 'a=b=info', 'a b=info', 'info;debug']) {
    assert.equal(parseLogFilter(text), undefined, text)
  }
})

test('[LOG-3] a level alone holds for every module, and no text makes it throw', () => {
  const module = fc.stringMatching(/^[a-z]{1,8}(\.[a-z]{1,8}){0,3}$/)
  fc.assert(
    fc.property(fc.constantFrom(...LEVELS), module, (level, name) => {
      assert.equal(parseLogFilter(level)?.levelOf(name), level)
      assert.equal(parseLogFilter(`${name}=${level},off`)?.levelOf(`${name}.below`), level)
    }),
    propertyRuns(100),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      const level = parseLogFilter(text)?.levelOf('hub')
      assert.ok(level === undefined || LEVELS.includes(level))
    }),
    propertyRuns(100),
  )
})
