// The first screen.

export const signIn = {
  title: 'Sign in',
  intro: 'An admin token opens the console, with the role that the token has.',
  token: 'Admin token',
  hint: 'On the hub’s machine:',
  submit: 'Sign in',
  submitting: 'Signing in…',
  empty: 'Paste an admin token: it begins with svca_.',
  refused: 'The hub does not know this token, or it has ended.',
  linkRefused: 'This link was used already, or its time is over. Ask for another one:',
  useLink: (name: string) => `Sign in with this link in place of ${name}?`,
  useLinkButton: 'Sign in with the link',
  stay: 'Stay signed in',
  tooMany: 'Too many attempts from this address. Wait a minute.',
  ended: 'Your session has ended. Sign in again.',
  kept: 'With another token too, what you typed is still there, except secrets.',
  left: 'You have signed out.',
  withProvider: (provider: string) => `Sign in with ${provider}`,
  begunElsewhere:
    'This sign-in did not begin in this tab, took longer than ten minutes, or was finished before. Begin it again here.',
  providerRefused: (why: string) =>
    `The provider did not sign you in${why === '' ? '' : ` (${why})`}. Try again, or use an admin token.`,
  providerAway: 'The provider does not answer the hub. Try again, or use an admin token.',
  providerFault: (message: string) => `The hub could not use the answer: ${message}.`,
  noRole: (name: string) =>
    `You are ${name} at the provider, and ${name} has no role at this hub. Ask an admin of the hub for one.`,
  nameTaken: (name: string) =>
    `Another person is signed in as ${name}. Ask an admin of the hub, who can end that with svc admin token revoke.`,
  unreachable: 'The hub does not answer.',
}
