import assert from 'node:assert/strict'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { MATERIAL, selfSigned, withPlace } from '../../../test/support/adopt-place.ts'
import { WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { createPairMaterial } from '../../../test/support/pair-material.ts'
import type { ServiceUse } from './find-uses.ts'
import { formatProposal } from './format-plan.ts'
import type { Proposal } from './proposal.ts'
import type { ProposalContext } from './propose.ts'
import type { Renewer } from './renewers/renewer.ts'
import { refuseShared } from './shared-renewers.ts'

describe('what is proposed', WITH_OWN_PLACE, () => {
  test('[ADO-4] services that read one file share one target, with both reloads', () =>
    withPlace(async ({ use, ask, path, port }) => {
      const reload = ['systemctl', 'reload', 'apache2.service']
      const [proposal, ...more] = await ask([use(), use({ kind: 'apache', reload })])
      assert.deepEqual(more, [])
      assert.ok(proposal)
      assert.deepEqual(proposal.problems, [])
      assert.deepEqual(proposal.services, ['apache', 'nginx'])
      const { id, name, targetText, targetPath } = proposal
      assert.equal(id, `${name}-apache-nginx`)
      assert.equal(targetPath, path(`targets.d/${id}.toml`))
      assert.equal(
        targetText.replaceAll(/^(owner|group) = .*\n/gm, ''),
        `name = "${name}"
reload = ["/bin/sh", "-c", "systemctl reload nginx.service && systemctl reload apache2.service"]
probe = "127.0.0.1:${port}"
probe_name = "site.test"

[[file]]
path = "${path('site.key')}"
content = ["key"]
mode = "0600"

[[file]]
path = "${path('site.pem')}"
content = ["cert", "chain"]
mode = "0644"
`,
      )
    }))

  test('[ADO-4] a key that everybody can read gets another mode, and a link is no hindrance', () =>
    withPlace(async ({ use, ask, path }) => {
      await chmod(path('site.key'), 0o644)
      await symlink('site.pem', path('link.pem'))
      const [proposal] = await ask([use({ certificatePath: path('link.pem') })])
      assert.deepEqual(proposal?.problems, [])
      assert.deepEqual(proposal?.notes, [
        `${path('site.key')} holds a key that everybody can read: it gets another mode`,
      ])
      assert.deepEqual(
        proposal?.files.map(({ path: file, link, mode }) => [file, link, mode]),
        [
          [path('link.pem'), 'site.pem', 0o644],
          [path('site.key'), undefined, 0o640],
        ],
      )
    }))

  test('[ADO-4] a renewer of several is stopped for all of them, or for none', () =>
    withPlace(async ({ use, ask, path }) => {
      const uses: ServiceUse[] = [use()]
      for (const name of ['b', 'c']) {
        const { leafPem, keyPem } = await createPairMaterial('ec-p256', `${name}.test`)
        await writeFile(path(`${name}.pem`), leafPem)
        await writeFile(path(`${name}.key`), keyPem, { mode: 0o600 })
        uses.push(use({ certificatePath: path(`${name}.pem`), keyPath: path(`${name}.key`) }))
      }
      const stop = { kind: 'unit', unit: 'u', is_enabled: true, is_active: true } as const
      const one: Renewer = { kind: 'step', name: 'u', stop, notes: [] }
      const asked = await ask(uses, { renewers: [() => [one]] })
      const plan = asked.map((proposal): Proposal => ({ ...proposal, problems: [] }))
      const [b, c, site] = plan
      assert.ok(b && c && site)
      const problemsOf = (proposals: readonly Proposal[], isWanted: (p: Proposal) => boolean) =>
        refuseShared(proposals, isWanted).map(({ problems }) => problems)
      assert.deepEqual(
        problemsOf(plan, () => true),
        [[], [], []],
      )
      const fault = `step (u) renews ${site.id} too: choose both, or neither`
      assert.deepEqual(
        problemsOf(plan, ({ id }) => id !== site.id),
        [[fault], [fault], []],
      )
      // What hinders one of them hinders all.
      const hindered: Proposal = { ...site, problems: ['x'] }
      assert.deepEqual(
        problemsOf([b, c, hindered], () => true),
        [[fault], [fault], ['x']],
      )
      const other: Renewer = { ...one, name: 'v', stop: { ...stop, unit: 'v' } }
      const chain = [{ ...b, renewers: [other] }, { ...c, renewers: [other, one] }, hindered]
      assert.deepEqual(
        problemsOf(chain, () => true),
        [[`step (v) renews ${c.id} too: choose both, or neither`], [fault], ['x']],
      )
      // What is adopted, or has a target, needs no renewer any more.
      for (const state of ['adopted', 'target'] as const) {
        assert.deepEqual(
          problemsOf([b, c, { ...hindered, state }], () => true),
          [[], [], ['x']],
        )
      }
      const unfinished: Proposal = { ...site, state: 'unfinished' }
      assert.deepEqual(
        problemsOf([b, unfinished], () => true),
        [[fault], []],
      )
    }))

  test('[ADO-4] what certbot changes together is taken over together', () =>
    withPlace(async ({ use, ask, path }) => {
      const { leafPem, keyPem, chainPems } = await MATERIAL
      await mkdir(path('live/a'), { recursive: true })
      await mkdir(path('archive/a'), { recursive: true })
      const chain = chainPems.join('')
      const all = { cert: leafPem, chain, fullchain: leafPem + chain, privkey: keyPem }
      for (const [name, text] of Object.entries(all)) {
        await writeFile(path(`archive/a/${name}1.pem`), text, { mode: 0o600 })
        await symlink(`../../archive/a/${name}1.pem`, path(`live/a/${name}.pem`))
      }
      const [certificatePath, keyPath] = [path('live/a/fullchain.pem'), path('live/a/privkey.pem')]
      const [proposal] = await ask([use({ certificatePath, keyPath })])
      assert.deepEqual(proposal?.problems, [])
      assert.deepEqual(
        proposal?.files.map(({ path: file, content }) => [file, content]),
        [
          [path('live/a/cert.pem'), ['cert']],
          [path('live/a/chain.pem'), ['chain']],
          [path('live/a/fullchain.pem'), ['cert', 'chain']],
          [path('live/a/privkey.pem'), ['key']],
        ],
      )
    }))

  test('[ADO-4] a load has a name, whatever the certificate says of itself', () =>
    withPlace(async ({ use, ask, path }) => {
      const names = { '..-a': 'a', '-_.': 'site', '*.b.test': 'wildcard.b.test', 'a..b': 'a.b' }
      for (const [san, expected] of Object.entries(names)) {
        const { cert, key } = selfSigned(path('named'), san)
        await writeFile(path('site.pem'), cert)
        await writeFile(path('site.key'), key)
        const [proposal] = await ask([use()])
        assert.equal(proposal?.name, expected)
      }
    }))

  test('[ADO-2] [ADO-4] one that cannot be looked at holds up no other', () =>
    withPlace(async ({ use, ask, path }) => {
      const { leafPem, keyPem } = await createPairMaterial()
      await writeFile(path('b.pem'), leafPem)
      await writeFile(path('b.key'), keyPem, { mode: 0o600 })
      const second = use({ certificatePath: path('b.pem'), keyPath: path('b.key') })
      const find = (_: unknown, file: { readonly path: string }): Renewer[] => {
        if (file.path === path('b.pem')) throw new Error('odd')
        return []
      }
      const problems = (await ask([second, use()], { renewers: [find] })).map((one) => one.problems)
      assert.deepEqual(
        problems.toSorted((a, b) => a.length - b.length),
        [[], ['it cannot be looked at: odd']],
      )
    }))

  test('[ADO-4] what a target or an adoption has is left alone', () =>
    withPlace(async ({ use, ask, path }) => {
      const states: readonly (readonly [Partial<ProposalContext>, string, RegExp])[] = [
        [{ takenPaths: new Set([path('site.key')]) }, 'target', /has these files/],
        [
          { adopted: new Map([[path('site.pem'), { id: 'before', isDone: true }]]) },
          'adopted',
          /--undo before takes it back/,
        ],
        [
          { adopted: new Map([[path('site.pem'), { id: 'before', isDone: false }]]) },
          'unfinished',
          /interrupted: --apply goes on with it, --undo takes it back/,
        ],
      ]
      for (const [given, state, said] of states) {
        const [proposal] = await ask([use()], given)
        assert.ok(proposal)
        assert.equal(proposal.state, state)
        assert.match(formatProposal(proposal), said)
      }
    }))

  test('[ADO-4] the same names are one load with two targets; a name of a target that is there is not taken', () =>
    withPlace(async ({ use, ask, path }) => {
      const { leafPem, keyPem } = await createPairMaterial()
      await writeFile(path('b.pem'), leafPem)
      await writeFile(path('b.key'), keyPem, { mode: 0o600 })
      const second = use({ certificatePath: path('b.pem'), keyPath: path('b.key') })
      const [{ name } = { name: '' }] = await ask([use()])
      const both = await ask([use(), second], { takenFiles: new Set([`${name}-nginx.toml`]) })
      assert.deepEqual(
        both.map((one) => [one.id, one.name]),
        [
          [`${name}-nginx-2`, name],
          [`${name}-nginx-3`, name],
        ],
      )
    }))
})
