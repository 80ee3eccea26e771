import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { append, NOW } from '../../../../test/store/store-samples.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { sampleWebhook } from '../../../../test/support/webhook-samples.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { WebhookId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'

let store: Store & AsyncDisposable
let admin: AdminOperations
let changed = 0

before(async () => {
  store = await openTemporaryStore()
  const webhooks = {
    changed: async () => {
      changed += 1
    },
    test: () => assert.fail('nothing is sent'),
  }
  ;({ admin } = openAdmin(store, { webhooks }))
})
after(() => store[Symbol.asyncDispose]())

describe('a webhook that is made', () => {
  test('[WHK-1] [WHK-4] gets what is recorded after its own making, and shows its secret once', async () => {
    await append(store, {})
    const seq = await lastSeq(store.reader)
    const request = { url: 'https://receiver.example/in?key=1', tipos: ['a', 'b', 'a'] }
    const { secret, ...created } = await admin.createWebhook(request)
    assert.match(secret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual(created, {
      id: created.id,
      url: 'https://receiver.example/in?key=1',
      tipos: ['a', 'b'],
      where: null,
      state: 'active',
      backlog: 0,
      dead: 0,
      attempts: 0,
      next_attempt_at: null,
      last_success_at: null,
      last_error_at: null,
      erro: null,
      seq: seq + 1,
      created_at: '2026-11-21T10:00:00.123Z',
      disabled_at: null,
    })
    const stored = await store.reader.webhooks.find(created.id as WebhookId)
    assert.deepEqual([stored?.progress.cursorSeq, stored?.createdAt], [seq + 1, NOW])
    assert.equal(await store.reader.webhooks.findSecret(created.id as WebhookId), secret)
    assert.equal(changed, 1)
  })

  test('[WHK-18] [LBL-7] is for the hosts of a selector that decides, in its one form', async () => {
    const seq = await lastSeq(store.reader)
    const request = { url: 'https://receiver.example/in', tipos: [] }
    const made = await admin.createWebhook({ ...request, where: ' env == prod ' })
    assert.equal(made.where, 'env=prod')
    assert.equal((await admin.showWebhook({ webhook: made.id })).where, 'env=prod')
    const [[, payload] = []] = await readActs(store.reader, seq)
    assert.equal((payload as { where?: unknown }).where, 'env=prod')
    await assert.rejects(admin.createWebhook({ ...request, where: 'host.os=linux' }), {
      code: 'selector_reported',
    })
    await assert.rejects(admin.createWebhook({ ...request, where: '=' }), {
      code: 'selector_invalid',
    })
  })

  test('[WHK-16] [WHK-17] is recorded by its origin: neither its path nor its secret is in the log', async () => {
    const seq = await lastSeq(store.reader)
    const { id } = await admin.createWebhook({ url: 'https://receiver.example/secret', tipos: [] })
    const origin = 'https://receiver.example'
    assert.deepEqual(await readActs(store.reader, seq), [
      ['webhook_created', { actor: 'admin', webhook_id: id, origin, tipos: [] }],
    ])
  })

  test('[WHK-26] [WHK-31] of a form for people has no secret, and its password is in the vault alone', async () => {
    const seq = await lastSeq(store.reader)
    const query = 'from=hub@example.org&to=oncall@example.org'
    const made = await admin.createWebhook({
      url: `smtps://hub@mail.example.org?${query}`,
      tipos: [],
      password: 'correct horse',
    })
    assert.deepEqual([made.secret, made.url], [null, `smtps://hub@mail.example.org:465?${query}`])
    assert.equal(await store.reader.webhooks.findSecret(made.id as WebhookId), 'correct horse')
    assert.doesNotMatch(JSON.stringify([made, await readActs(store.reader, seq)]), /horse/)
    const slack = await admin.createWebhook({ url: 'slack+https://hooks.slack.com/x', tipos: [] })
    assert.equal(slack.secret, null)
  })

  test('[WHK-31] has a password exactly where its URL names a user', async () => {
    const query = 'from=hub@example.org&to=oncall@example.org'
    for (const [url, password, message] of [
      [`smtps://hub@mail.example.org?${query}`, undefined, /needs a password/],
      [`smtps://mail.example.org?${query}`, 'x', /names no user/],
      ['slack+https://hooks.slack.com/x', 'x', /names no user/],
      ['https://receiver.example/', 'x', /names no user/],
      [`smtps://hub@mail.example.org?${query}`, 'a\r\nb', /not printable/],
    ] as const) {
      const request = { url, tipos: [], ...(password !== undefined && { password }) }
      await assert.rejects(admin.createWebhook(request), { code: 'password_invalid', message })
    }
  })

  test('[WHK-4] has a secret of its own', async () => {
    const request = { url: 'http://localhost:1/', tipos: [] }
    const both = await Promise.all([admin.createWebhook(request), admin.createWebhook(request)])
    assert.equal(new Set(both.map(({ secret }) => secret)).size, 2)
    assert.equal(new Set(both.map(({ id }) => id)).size, 2)
    const [first, second] = both.map(({ seq }) => seq)
    assert.equal((second ?? 0) - (first ?? 0), 1, 'and is told of the other one')
  })
})

describe('a webhook is refused', () => {
  test('[WHK-13] [WHK-1] for its URL, then for its types; nothing is recorded then', async () => {
    const seq = await lastSeq(store.reader)
    const told = changed
    const good = { url: 'https://receiver.example/', tipos: [] }
    for (const [request, code, message] of [
      [
        { url: 'http://receiver.example/', tipos: ['NO'] },
        'url_invalid',
        'a webhook cannot use this URL: it is not https, and not on this machine',
      ],
      [{ ...good, tipos: ['a', 'NO'] }, 'tipo_invalid', 'NO is not a type of event'],
      [
        { ...good, tipos: ['webhook_dead'] },
        'tipo_invalid',
        'webhook_dead is a type that the hub records, but sends to no webhook',
      ],
    ] as const) {
      await assert.rejects(admin.createWebhook({ ...request, tipos: [...request.tipos] }), {
        code,
        message,
      })
    }
    assert.deepEqual(await readActs(store.reader, seq), [])
    assert.equal(changed, told)
  })

  test('[WHK-10] when there are a hundred, also when the last two are asked for at once', async () => {
    const { length } = await store.reader.webhooks.list()
    await store.write(async (writer) => {
      for (let count = length; count < 99; count += 1) {
        await writer.webhooks.insert(sampleWebhook(), 'whsec_x')
      }
    })
    const request = { url: 'https://receiver.example/', tipos: [] }
    const both = await Promise.allSettled([
      admin.createWebhook(request),
      admin.createWebhook(request),
    ])
    assert.deepEqual(
      both.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    await assert.rejects(admin.createWebhook(request), {
      code: 'too_many_webhooks',
      message: 'there are 100 webhooks already',
    })
    assert.equal((await store.reader.webhooks.list()).length, 100)
  })
})
