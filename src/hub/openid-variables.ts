// What the environment says of an OpenID provider by which people sign in. docs/protocol.md OID.

import type { HubVariable } from './ca-variables.ts'

export const OPENID_VARIABLES: readonly HubVariable[] = [
  {
    name: 'SVC_OIDC_ISSUER',
    required: false,
    default: '',
    meaning:
      'HTTPS URL of an OpenID provider by which people sign in to the console and with `svc login`. Not set: there is no such sign-in.',
  },
  {
    name: 'SVC_OIDC_CLIENT_ID',
    required: false,
    default: '',
    meaning: 'The hub’s client ID at the OpenID provider.',
  },
  {
    name: 'SVC_OIDC_CLIENT_SECRET',
    required: false,
    default: '',
    meaning:
      'The client’s secret at the OpenID provider. Not set: the hub is a public client, by PKCE alone.',
    isSecret: true,
  },
  {
    name: 'SVC_OIDC_ROLES',
    required: false,
    default: '',
    meaning:
      'Who may do what: `role=group` or `role[selector]=group`, separated by `;`; the group `*` is everybody. The first entry that matches decides.',
  },
  {
    name: 'SVC_OIDC_NAME',
    required: false,
    default: 'the host of SVC_OIDC_ISSUER',
    meaning: 'What the console calls the OpenID provider: “Sign in with …”.',
  },
  {
    name: 'SVC_OIDC_CA_PATH',
    required: false,
    default: 'the system’s roots',
    meaning:
      'Path of the root certificates, PEM, by which alone the hub knows the OpenID provider’s server.',
  },
  {
    name: 'SVC_OIDC_SCOPES',
    required: false,
    default: 'openid profile email',
    meaning: 'The scopes that the hub asks for, separated by blanks.',
  },
  {
    name: 'SVC_OIDC_NAME_CLAIM',
    required: false,
    default: 'email',
    meaning: 'The claim that is a person’s name in the audit log.',
  },
  {
    name: 'SVC_OIDC_GROUPS_CLAIM',
    required: false,
    default: 'groups',
    meaning: 'The claim that has a person’s groups.',
  },
  {
    name: 'SVC_OIDC_TTL',
    required: false,
    default: '12h',
    meaning: 'How long a sign-in lasts, from 5m to 12h.',
  },
]
