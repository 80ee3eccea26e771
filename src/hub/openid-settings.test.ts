import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HUB_VARIABLES } from './hub-variables.ts'
import { parseProviderSettings, readProviderConfig } from './openid-settings.ts'

type Environment = Readonly<Record<string, string>>

const GOOD: Environment = {
  SVC_OIDC_ISSUER: 'https://sso.example.org/realms/ops',
  SVC_OIDC_CLIENT_ID: 'cartorio',
  SVC_OIDC_ROLES: 'admin=admins',
}

function parse(changed: Environment) {
  const env = { ...GOOD, ...changed }
  const settings = parseProviderSettings(
    env,
    (name) => env[name] ?? HUB_VARIABLES.find((variable) => variable.name === name)?.default ?? '',
  )
  return readProviderConfig(env, settings)
}

describe('the settings of an OpenID provider', () => {
  test('[ENV-93] [ENV-94] are none without an issuer', () => {
    assert.equal(parse({ SVC_OIDC_ISSUER: '' }), undefined)
  })

  test('[ENV-95] [ENV-97] [ENV-99] [ENV-100] [ENV-101] [ENV-102] are few', () => {
    assert.deepEqual(parse({}), {
      issuer: 'https://sso.example.org/realms/ops',
      clientId: 'cartorio',
      clientSecret: undefined,
      name: 'sso.example.org',
      caPath: undefined,
      scopes: 'openid profile email',
      nameClaim: 'email',
      groupsClaim: 'groups',
      roles: [{ role: 'admin', only: null, group: 'admins' }],
      ttlMs: 12 * 3_600_000,
    })
  })

  test('[OID-5] [ENV-96] roles are of groups, whatever characters a group has', () => {
    const { roles } = parse({
      SVC_OIDC_ROLES:
        ' admin=cn=ops admins,ou=groups,dc=example ; operator[ role=web,env in (prod,stage) ]=a=b;viewer=* ;',
    })!
    assert.deepEqual(roles, [
      { role: 'admin', only: null, group: 'cn=ops admins,ou=groups,dc=example' },
      { role: 'operator', only: 'role=web,env in (prod,stage)', group: 'a=b' },
      { role: 'viewer', only: null, group: '*' },
    ])
  })

  const wrong: [setting: string, value: string, message: RegExp][] = [
    ['SVC_OIDC_ISSUER', 'http://sso.example.org', /is not an https URL$/],
    ['SVC_OIDC_ISSUER', 'sso', /sso is not an https URL$/],
    ['SVC_OIDC_ISSUER', 'https://a:b@sso.example.org', /it has credentials/],
    ['SVC_OIDC_ISSUER', 'https://sso.example.org/?a=b', /a query/],
    [
      'SVC_OIDC_ISSUER',
      'https://sso.example.org/.well-known/openid-configuration',
      /it ends before \/\.well-known$/,
    ],
    ['SVC_OIDC_CLIENT_ID', '', /SVC_OIDC_ISSUER needs it$/],
    ['SVC_OIDC_CLIENT_SECRET', 'two\nlines', /not one line of printable ASCII$/],
    ['SVC_OIDC_NAME', 'a\u202eb', /64 characters of plain text$/],
    ['SVC_OIDC_SCOPES', 'email', /openid is not one of them$/],
    ['SVC_OIDC_NAME_CLAIM', 'two claims', /is not a claim such as email$/],
    ['SVC_OIDC_TTL', '13h', /13h is not a duration from 5m to 12h$/],
    ['SVC_OIDC_TTL', '1m', /1m is not a duration/],
    ['SVC_OIDC_ROLES', '', /no entry such as admin=cartorio-admins$/],
    ['SVC_OIDC_ROLES', 'root=admins', /root=admins: it is not role=group/],
    ['SVC_OIDC_ROLES', 'admin', /admin: it is not role=group/],
    ['SVC_OIDC_ROLES', 'admin=', /it is not role=group/],
    ['SVC_OIDC_ROLES', 'admin[role=web]=a', /role admin is for all hosts/],
    ['SVC_OIDC_ROLES', 'viewer[role=]=a', /column \d+ of the selector/],
    ['SVC_OIDC_ROLES', 'viewer[host.os=linux]=a', /the agents themselves say what host\.os is$/],
    ['SVC_OIDC_ROLES', `viewer=${'g'.repeat(257)}`, /at most 256 characters$/],
    ['SVC_OIDC_ROLES', 'viewer=a;'.repeat(101), /more than 100 entries$/],
  ]
  for (const [setting, value, message] of wrong) {
    test(`[OID-1] ${setting} is not ${JSON.stringify(value.slice(0, 60))}`, () => {
      assert.throws(
        () => parse({ [setting]: value }),
        (error: Error) => {
          assert.match(error.message, new RegExp(`^${setting}: `))
          assert.match(error.message, message)
          return true
        },
      )
    })
  }
})
