"""Reports on cluster, domains, projects and the collectors' work. Read-only; each sees one state of the database."""
