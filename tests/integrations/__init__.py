"""What other systems run of us: the GitHub Action, the GitLab component, the hooks of pre-commit."""
