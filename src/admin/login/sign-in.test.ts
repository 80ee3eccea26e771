import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { type SignInHub, startSignInHub } from '../../../test/fakes/sign-in-hub.ts'
import { type SignInOptions, signIn } from './sign-in.ts'

/** Ten minutes pass at once, or never. */
const clockOf = (isLate: boolean): SignInOptions['clock'] => ({
  now: () => new Date(),
  sleep: (durationMs, signal) => {
    assert.equal(durationMs, 600_000)
    if (isLate) return Promise.resolve()
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  },
})

async function withOptions(
  work: (
    options: Omit<SignInOptions, 'openBrowser' | 'askLine'>,
    shown: string[],
    asked: SignInHub['asked'],
  ) => Promise<void>,
  isLate: boolean,
): Promise<void> {
  await using hub = await startSignInHub({ ca: await createFakeCa(), state: 'fixed' })
  const shown: string[] = []
  const options = {
    hub: { url: new URL(hub.url), caPem: hub.rootPem },
    provider: { name: 'Example SSO', issuer: 'https://sso.example.org' },
    clock: clockOf(isLate),
    port: 0,
    show: (line: string) => void shown.push(line),
  }
  await work(options, shown, hub.asked)
}

const LATE = { code: 'sign_in_timeout', message: 'nobody signed in within 10 minutes' }

test('[OID-31] a browser that does not come back is waited for ten minutes, and nothing is left of it', () =>
  withOptions(async (options, shown) => {
    const done: string[] = []
    await assert.rejects(
      signIn({
        ...options,
        openBrowser: async (url) => {
          done.push(new URL(url).origin)
          return {
            fault: undefined,
            directory: '/nowhere',
            forget: async () => void done.push('forgotten'),
          }
        },
        askLine: () => assert.fail('nobody is asked'),
      }),
      LATE,
    )
    // What is being shown to the person ends with it.
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(done, ['https://sso.example.org', 'forgotten'])
    assert.match(shown[2] ?? '', /^waiting up to 10 minutes for Example SSO; Ctrl-C ends it$/)
  }, true))

test('[OID-33] a person who pastes nothing is waited for ten minutes', () =>
  withOptions(async (options) => {
    await assert.rejects(
      signIn({
        ...options,
        openBrowser: undefined,
        askLine: (_question, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(undefined), { once: true })
          }),
      }),
      LATE,
    )
  }, true))

test('[OID-33] five addresses are looked at, and then no other one', () =>
  withOptions(async (options, shown) => {
    let asked = 0
    await assert.rejects(
      signIn({
        ...options,
        openBrowser: undefined,
        askLine: async () => {
          asked += 1
          return 'https://elsewhere.example'
        },
      }),
      { code: 'sign_in_cancelled' },
    )
    assert.equal(asked, 5)
    assert.match(shown[2] ?? '', /http:\/\/127\.0\.0\.1:2\d{4}\/callback\?… Copy all of it\.$/)
  }, false))

test('[OID-31] each sign-in has a secret of its own', () =>
  withOptions(async (options, _shown, asked) => {
    for (let time = 0; time < 2; time += 1) {
      await assert.rejects(
        signIn({ ...options, openBrowser: undefined, askLine: async () => undefined }),
        { code: 'sign_in_cancelled' },
      )
    }
    const keys = asked.filter(({ route }) => route === 'start').map(({ body }) => body['key'])
    assert.equal(new Set(keys).size, 2)
    for (const key of keys) assert.match(String(key), /^[\w-]{43}$/)
  }, false))
