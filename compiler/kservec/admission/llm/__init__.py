"""What KServe's API makes of an LLMInferenceService and its configs: conversion, defaulting, validation."""
