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
  ended: 'Your session has ended. Sign in again: what you typed is still there.',
  left: 'You have signed out.',
  unreachable: 'The hub does not answer.',
}
