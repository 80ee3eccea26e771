// What the environment says of the CAs: one table, of which each kind of CA reads its own rows.

/** Who signs: docs/protocol.md CAX-15. */
export const CA_KINDS = ['step', 'openbao', 'acme'] as const
export type CaKind = (typeof CA_KINDS)[number]

export interface HubVariable {
  readonly name: string
  readonly required: boolean
  /** Of a hub whose CA is of this kind. */
  readonly kind?: CaKind | undefined
  readonly default: string
  readonly meaning: string
  /** A secret may also come as NAME_FILE, the path of a file that holds it. */
  readonly isSecret?: boolean
}

export const CA_VARIABLES: readonly HubVariable[] = [
  {
    name: 'SVC_CA_KIND',
    required: false,
    default: 'step',
    meaning:
      'Who signs: `step`, a step-ca or svc-ca; `openbao`, the PKI of an OpenBao or a Vault; `acme`, an ACME CA for what is delivered, and SVC_IDENTITY_CA_KIND for the rest.',
  },
  {
    name: 'SVC_IDENTITY_CA_KIND',
    required: false,
    kind: 'acme',
    default: 'step',
    meaning:
      '`step` or `openbao`: who signs the identities of agents, and the certificate of the hub itself, beside an ACME CA.',
  },
  { name: 'SVC_CA_URL', required: true, default: '', meaning: 'HTTPS URL of the CA.' },
  {
    name: 'SVC_CA_PROVISIONER_KID',
    required: true,
    kind: 'step',
    default: '',
    meaning: 'Key id of the CA’s JWK provisioner.',
  },
  {
    name: 'SVC_CA_PROVISIONER_KEY',
    required: true,
    kind: 'step',
    default: '',
    meaning: 'The provisioner’s private JWK as one-line JSON (EC, P-256, ES256).',
    isSecret: true,
  },
  {
    name: 'SVC_CA_ROOT_CA_PATH',
    required: true,
    default: '',
    meaning: 'Path of the CA’s root certificate, PEM.',
  },
  {
    name: 'SVC_CA_PROVISIONER_NAME',
    required: false,
    kind: 'step',
    default: 'the hub asks the CA, by key id',
    meaning: 'Name of the CA’s JWK provisioner.',
  },
  {
    name: 'SVC_CA_TLS_ROOT_PATH',
    required: false,
    kind: 'openbao',
    default: 'the roots in force',
    meaning:
      'Path of root certificates, PEM, by which the hub knows the server of SVC_CA_URL, where that has its certificate from elsewhere.',
  },
  {
    name: 'SVC_OPENBAO_ROLE',
    required: true,
    kind: 'openbao',
    default: '',
    meaning: 'Role by whose rules the PKI signs.',
  },
  {
    name: 'SVC_OPENBAO_MOUNT',
    required: false,
    kind: 'openbao',
    default: 'pki',
    meaning: 'Path at which the PKI is enabled.',
  },
  {
    name: 'SVC_OPENBAO_NAMESPACE',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'Namespace in which the PKI and the login are.',
  },
  {
    name: 'SVC_OPENBAO_TOKEN',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'Token for the PKI, which the hub renews; this or SVC_OPENBAO_ROLE_ID.',
    isSecret: true,
  },
  {
    name: 'SVC_OPENBAO_ROLE_ID',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'RoleID with which the hub logs in by AppRole.',
  },
  {
    name: 'SVC_OPENBAO_SECRET_ID',
    required: false,
    kind: 'openbao',
    default: '',
    meaning: 'SecretID of that role, good for any number of logins.',
    isSecret: true,
  },
  {
    name: 'SVC_OPENBAO_LOGIN_MOUNT',
    required: false,
    kind: 'openbao',
    default: 'approle',
    meaning: 'Path at which AppRole is enabled.',
  },
  {
    name: 'SVC_ACME_DIRECTORY',
    required: true,
    kind: 'acme',
    default: '',
    meaning: 'HTTPS URL of the ACME CA’s directory.',
  },
  {
    name: 'SVC_ACME_ACCOUNT_KEY',
    required: true,
    kind: 'acme',
    default: '',
    meaning: 'Private key of the hub’s account there, PEM (EC, P-256).',
    isSecret: true,
  },
  {
    name: 'SVC_ACME_HOOK',
    required: true,
    kind: 'acme',
    default: '',
    meaning: 'Path of the program that shows, and takes away, the proof of control over a name.',
  },
  {
    name: 'SVC_ACME_CHALLENGE',
    required: false,
    kind: 'acme',
    default: 'dns-01',
    meaning: '`dns-01` or `http-01`: what kind of proof that is.',
  },
  {
    name: 'SVC_ACME_EAB_KID',
    required: false,
    kind: 'acme',
    default: '',
    meaning: 'Key id of the external account, where the ACME CA wants one.',
  },
  {
    name: 'SVC_ACME_EAB_KEY',
    required: false,
    kind: 'acme',
    default: '',
    meaning: 'MAC key of that external account, base64url.',
    isSecret: true,
  },
  {
    name: 'SVC_ACME_TLS_ROOT_PATH',
    required: false,
    kind: 'acme',
    default: 'the roots in force',
    meaning:
      'Path of root certificates, PEM, by which the hub knows the server of SVC_ACME_DIRECTORY, where that has its certificate from elsewhere.',
  },
]
